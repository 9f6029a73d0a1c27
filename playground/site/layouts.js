// SPDX-License-Identifier: Apache-2.0
// layouts.js  The page of layouts: an expression, its picture, and what can be done with both.
'use strict';

(() => {
  const defaults = {e: '(4,8):(8,1)', view: 'layout', tile: '', access: 'ldmatrix.x4', bits: '16',
                    at: '(0,0)', unit: 'wgmma', major: 'K', step: '0', other: ''};
  // The parameters of each view: key, label, choices or '' for a text.
  const parameters = {
    layout: [], steps: [],
    tv: [['tile', 'Tile', '']],
    banks: [['access', 'Access', 'ld.32 ld.64 ld.128 st.32 st.64 st.128 ldmatrix.x1 ldmatrix.x2 ' +
             'ldmatrix.x4 ldmatrix.x4.trans stmatrix.x4'],
            ['bits', 'Bits of an element', '4 8 16 32 64']],
    tma: [['tile', 'Tile in shared memory', ''], ['at', 'Begins at', ''],
          ['bits', 'Bits of an element', '4 8 16 32 64']],
    descriptor: [['unit', 'For', 'wgmma tcgen05'], ['major', 'Major', 'K MN'],
                 ['step', 'Step along k', '0 1 2 3'], ['bits', 'Bits of an element', '4 8 16 32']],
  };
  const tileOfView = {tv: '(16,8)', tma: '(64,64):(64,1)'};
  const engine = new Engine('layout');
  const field = byId('expression'), message = byId('message'), list = byId('completions');
  const say = text => { byId('info').textContent = text || greeting; };
  const greeting = 'Hover a cell, or move over the picture with the arrow keys.';
  const first = new Picture(byId('first'), say), second = new Picture(byId('second'), say);
  // In a frame of the documentation: the expression and its picture alone.
  if (window.self !== window.top) document.body.classList.add('embedded');
  let state = readFragment(defaults);
  let operations = [];
  let past = [], future = [];

  // ---- requests ----

  /** On one line, without comments of C++. */
  const flatten = text => text.replace(/\/\*.*?\*\/|\/\/[^\n]*/gs, ' ').replace(/\s+/g, ' ').trim();

  function optionsOf(s) {
    const tile = s.tile || tileOfView[s.view];
    switch (s.view) {
      case 'tv': return ['--tv', tile];
      case 'steps': return ['--steps'];
      case 'banks': return ['--banks', s.access, '--bits', s.bits];
      case 'tma': return ['--tma', tile, '--at', s.at, '--bits', s.bits];
      case 'descriptor':
        return ['--descriptor', s.unit, '--bits', s.bits, '--step', s.step,
                ...(s.major === 'MN' ? ['--mn-major'] : [])];
      default: return [];
    }
  }
  // An expression that begins with a dash is no option.
  const words = (s, expression, print) =>
    ['layout', ...optionsOf(s), '--print', print, '--', expression];
  const commandOf = s => ['tilewright', 'layout', flatten(s.e), ...optionsOf(s)]
    .map(shellWord).join(' ');

  const redraw = newestOnly(async s => {
    const begin = performance.now();
    let answer;
    try {
      answer = await engine.text(words(s, s.e, 'html'));
      if (answer.status === 2 && s.view === 'layout') {
        // A number, a tuple or a truth has no picture: its text is the answer.
        const text = await engine.text(words(s, s.e, 'text'));
        if (text.status === 0) answer = text;
      }
    } catch (e) {
      message.textContent = e.message;
      message.className = 'refused';
      return;
    }
    if (answer.status !== 0) {
      refused(answer);
      return;
    }
    markText(-1);
    message.className = '';
    message.textContent = answer.err.trim();
    if (!first.draw(answer.out)) {
      first.clear();
      first.box.replaceChildren(element('pre', {class: 'answer', tabindex: '0'}, answer.out));
    }
    await compare(s);
    document.body.dataset.drawnMs = Math.round(performance.now() - begin);
    document.body.dataset.drawn = fragmentOf(s, defaults);
    say('');
  });

  async function compare(s) {
    const wanted = s.other.trim() !== '';
    second.box.hidden = !wanted;
    second.partner = first.partner = null;
    if (!wanted) return;
    const answer = await engine.text(words(s, s.other, 'html'));
    if (answer.status !== 0 || !second.draw(answer.out)) {
      second.clear();
      second.box.replaceChildren(element('pre', {class: 'refused'},
        answer.status !== 0 ? refusalText(answer) : answer.out));
      return;
    }
    if (!first.parts) return;
    const a = first.values(), b = second.values();
    const count = first.markDifferences(b);
    second.markDifferences(a);
    first.partner = second;
    second.partner = first;
    second.box.append(element('p', {class: 'caption', id: 'differences'}, count === 0
      ? 'No difference.' : `${count} of ${a.size} coordinates differ: their cells are outlined.`));
  }

  function refused(answer) {
    message.className = 'refused';
    message.textContent = refusalText(answer);
    const place = /at position (\d+)/.exec(answer.err);
    // Positions begin at 1, and count in the text that the message repeats: in another notation the
    // caret of the message is the mark.
    const typed = answer.err.split('\n')[1] === `    ${field.value}`;
    markText(place && typed ? Number(place[1]) - 1 : -1);
    document.body.dataset.drawn = 'refused';
  }

  /** The expression again behind the field, with the character of the error marked. */
  function markText(position) {
    const text = field.value, back = byId('backdrop');
    if (position < 0) {
      back.textContent = text;
      return;
    }
    const at = Math.min(position, text.length);
    back.replaceChildren(text.slice(0, at), element('mark', {}, text.slice(at, at + 1) || ' '),
                         text.slice(at + 1));
    back.scrollTop = field.scrollTop;
  }

  // ---- the state ----

  function remember() {
    const now = JSON.stringify(state);
    if (past[past.length - 1] === now) return;
    past.push(now);
    if (past.length > 200) past.shift();
    future = [];
    showHistory();
  }
  function showHistory() {
    byId('undo').disabled = past.length < 2;
    byId('redo').disabled = future.length === 0;
  }

  function change(values, keep = true) {
    state = {...state, ...values};
    writeFragment(state, defaults);
    if (keep) remember();
    redraw({...state});
  }

  function step(from, to) {
    if (from === past && past.length < 2) return;
    const moved = from.pop();
    if (!moved) return;
    to.push(moved);
    const shown = from === past ? past[past.length - 1] : moved;
    state = JSON.parse(shown);
    fill();
    writeFragment(state, defaults);
    redraw({...state});
    showHistory();
  }
  const undo = () => step(past, future);
  const redo = () => step(future, past);

  /** Shows the state in all fields. */
  function fill() {
    if (field.value !== state.e) field.value = state.e;
    byId('compare').value = state.other;
    const view = byId('view');
    if (![...view.options].some(o => o.value === state.view)) state.view = defaults.view;
    view.value = state.view;
    showParameters();
    showSliders();
    markText(-1);
  }

  function showParameters() {
    const box = byId('parameters');
    box.replaceChildren(...parameters[state.view].map(([key, label, choices]) => {
      const id = `parameter-${key}`;
      let input;
      if (choices) {
        const known = choices.split(' ');
        if (!known.includes(state[key])) state[key] = defaults[key];
        input = element('select', {id}, ...known.map(c => element('option', {}, c)));
        input.value = state[key];
      } else {
        input = element('input', {id, spellcheck: 'false', autocomplete: 'off'});
        input.value = state[key] || (key === 'tile' ? tileOfView[state.view] : defaults[key]);
      }
      input.addEventListener('input', () => change({[key]: input.value}));
      return element('div', {}, element('label', {for: id}, label), input);
    }));
  }

  // ---- sliders: the numbers of swizzles and of shapes in the text ----

  function numbersOf(text) {
    const found = [];
    for (const swizzle of text.matchAll(/Sw<\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*>/g)) {
      let at = swizzle.index;
      ['bits', 'base', 'shift'].forEach((name, i) => {
        at = text.indexOf(swizzle[i + 1], at);
        found.push({at, text: swizzle[i + 1], name: `swizzle ${name}`, least: 0, most: i ? 7 : 5});
        at += swizzle[i + 1].length;
      });
    }
    for (const shape of text.matchAll(/\(([\d\s,()]+)\)\s*:/g)) {
      let mode = 0;
      for (const n of shape[1].matchAll(/\d+/g)) {
        found.push({at: shape.index + 1 + n.index, text: n[0], name: `extent ${mode++}`, least: 1,
                    most: Math.max(64, Number(n[0]))});
      }
    }
    return found.sort((a, b) => a.at - b.at).slice(0, 8);
  }

  function showSliders() {
    const box = byId('sliders'), numbers = numbersOf(field.value);
    const shape = numbers.map(n => n.name).join();
    if (box.dataset.shape !== shape) {
      box.dataset.shape = shape;
      box.replaceChildren(...numbers.map((n, i) => {
        const id = `slider-${i}`;
        const input = element('input', {type: 'range', id, min: n.least, max: n.most, step: 1});
        input.addEventListener('input', () => slide(i, input.value));
        input.addEventListener('change', remember);
        return element('div', {}, element('label', {for: id}, n.name), input,
                       element('output', {for: id}));
      }));
    }
    numbers.forEach((n, i) => {
      const row = box.children[i], input = row.querySelector('input');
      input.max = Math.max(n.most, Number(input.max));
      input.value = n.text;
      row.querySelector('output').textContent = n.text;
    });
  }

  function slide(i, value) {
    const n = numbersOf(field.value)[i];
    if (!n) return;
    field.value = field.value.slice(0, n.at) + value + field.value.slice(n.at + n.text.length);
    showSliders();
    change({e: field.value}, false);
  }

  // ---- completion ----

  let offered = [], chosen = -1;

  function wordBefore() {
    const text = field.value.slice(0, field.selectionStart);
    const word = /[A-Za-z_][A-Za-z_0-9]*$/.exec(text);
    return word ? word[0] : '';
  }

  function offer() {
    const word = wordBefore();
    offered = word.length < 2 ? [] :
      operations.filter(o => o.name.startsWith(word) && o.name !== word).slice(0, 8);
    chosen = -1;
    list.replaceChildren(...offered.map((o, i) => {
      const item = element('li', {role: 'option', id: `completion-${i}`, 'aria-selected': 'false'},
        element('b', {}, o.name), `(${o.arguments})`);
      item.addEventListener('pointerdown', e => {
        e.preventDefault();
        accept(i);
      });
      return item;
    }));
    list.hidden = offered.length === 0;
    field.removeAttribute('aria-activedescendant');
  }

  function choose(i) {
    chosen = (i + offered.length) % offered.length;
    [...list.children].forEach((item, k) => item.setAttribute('aria-selected', String(k === chosen)));
    field.setAttribute('aria-activedescendant', `completion-${chosen}`);
  }

  function accept(i) {
    const word = wordBefore(), end = field.selectionStart;
    const rest = field.value.slice(end);
    const text = offered[i].name + (rest.startsWith('(') ? '' : '(');
    field.value = field.value.slice(0, end - word.length) + text + rest;
    field.selectionStart = field.selectionEnd = end - word.length + text.length;
    offered = [];
    offer();
    typed();
  }

  function typed() {
    showSliders();
    markText(-1);
    change({e: field.value});
  }

  field.addEventListener('input', () => {
    typed();
    offer();
  });
  field.addEventListener('scroll', () => { byId('backdrop').scrollTop = field.scrollTop; });
  field.addEventListener('blur', () => { list.hidden = true; });
  field.addEventListener('keydown', e => {
    if ((e.ctrlKey || e.metaKey) && !e.altKey && /^[zy]$/i.test(e.key)) {
      e.preventDefault();
      (e.key.toLowerCase() === 'y' || e.shiftKey ? redo : undo)();
      return;
    }
    if (e.key === ' ' && e.ctrlKey) {
      e.preventDefault();
      offer();
      return;
    }
    if (list.hidden) return;
    if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
      e.preventDefault();
      choose(chosen + (e.key === 'ArrowDown' ? 1 : -1));
    } else if ((e.key === 'Enter' || e.key === 'Tab') && chosen >= 0) {
      e.preventDefault();
      accept(chosen);
    } else if (e.key === 'Escape') {
      offered = [];
      list.hidden = true;
    }
  });

  byId('view').addEventListener('input', e => {
    state.tile = '';
    state.view = e.target.value;
    showParameters();
    change({});
  });
  byId('compare').addEventListener('input', e => change({other: e.target.value}));
  byId('undo').addEventListener('click', undo);
  byId('redo').addEventListener('click', redo);

  // ---- examples, laws ----

  function showExamples() {
    const menu = byId('menu');
    for (const group of tilewrightExamples) {
      menu.append(element('optgroup', {label: group.title}, ...group.examples.map(x =>
        element('option', {value: JSON.stringify(x.state)}, x.title))));
    }
    menu.addEventListener('input', () => {
      if (!menu.value) return;
      state = {...defaults, ...JSON.parse(menu.value)};
      fill();
      change({});
      menu.value = '';
    });
  }

  async function showOperations() {
    const answer = await engine.text(['layout', '--ops', '--json']);
    operations = recordOf(answer).operations;
    const menu = byId('operation');
    menu.append(...operations.map(o => element('option', {}, o.name)));
    const describe = async () => {
      const told = await engine.text(['layout', '--help', menu.value]);
      byId('described').textContent = told.out;
    };
    menu.addEventListener('input', describe);
    byId('law').addEventListener('toggle', () => {
      const used = operations.find(o => field.value.trim().startsWith(o.name + '('));
      if (used) menu.value = used.name;
      describe();
    });
    byId('try').addEventListener('click', () => {
      field.value = operations.find(o => o.name === menu.value).example;
      state.view = 'layout';
      fill();
      typed();
    });
  }

  // ---- copying ----

  async function picture(print) {
    const answer = await engine.text(words(state, state.e, print));
    if (answer.status !== 0) throw new Error(refusalText(answer).split('\n')[0]);
    return answer.out;
  }

  async function png(svg) {
    const size = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(svg);
    const scale = 2, image = new Image();
    const url = URL.createObjectURL(new Blob([svg], {type: 'image/svg+xml'}));
    try {
      image.src = url;
      await image.decode();
      const canvas = element('canvas', {width: Math.ceil(size[1] * scale),
                                        height: Math.ceil(size[2] * scale)});
      canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
      return await new Promise(done => canvas.toBlob(done, 'image/png'));
    } finally {
      URL.revokeObjectURL(url);
    }
  }

  async function cpp() {
    const answer = await engine.text(['layout', '--print', 'json', '--', state.e]);
    const record = recordOf(answer);
    if (answer.status !== 0 || !record || !('n' in record))
      throw new Error('the answer is no layout: C++ has no literal of it');
    return `#include "tilewright/layout/layout.hpp"\n\nusing namespace tw;\n` +
           `// ${flatten(state.e)}\nconstexpr layout answer = "${record.res}"_L;\n`;
  }

  async function copy(what) {
    switch (what) {
      case 'link': return copyText(location.href, 'link.txt');
      case 'svg': return copyText(await picture('svg'), 'layout.svg');
      case 'latex': return copyText(await picture('latex'), 'layout.tex');
      case 'cpp': return copyText(await cpp(), 'layout.cpp');
      case 'command': return copyText(commandOf(state), 'command.txt');
      default: {
        const image = await png(await picture('svg'));
        try {
          await navigator.clipboard.write([new ClipboardItem({'image/png': image})]);
          return 'copied';
        } catch (e) {
          download('layout.png', image);
          return 'saved as layout.png';
        }
      }
    }
  }

  for (const button of document.querySelectorAll('[data-copy]')) {
    button.addEventListener('click', async () => {
      try {
        byId('copied').textContent = `${button.textContent}: ${await copy(button.dataset.copy)}`;
      } catch (e) {
        byId('copied').textContent = e.message;
      }
    });
  }

  addEventListener('hashchange', () => {
    state = readFragment(defaults);
    fill();
    remember();
    redraw({...state});
  });

  showExamples();
  fill();
  remember();
  redraw({...state});
  showOperations().catch(e => { message.textContent = e.message; });
})();

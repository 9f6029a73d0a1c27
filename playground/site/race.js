// SPDX-License-Identifier: Apache-2.0
// race.js  The page that runs kernels: what is chosen, what the emulator says, and where.
'use strict';

(() => {
  const defaults = {kernel: 'ladder/06_persistent', fault: 'ring-restarts', schedule: 'eager',
                    seed: '1', size: ''};
  const sizes = ['', '128', '256', '384', '512'];
  const engine = new Engine('race');
  const sources = globalThis.tilewrightSources;
  let state = readFragment(defaults);
  let specimens = [], record = null, at = 0, running = false;

  const chosen = () => specimens.find(s => s.kernel === state.kernel && s.fault === state.fault);

  // ---- what is chosen ----

  function fill() {
    const kernels = specimens.filter(s => s.fault === '');
    if (!kernels.some(k => k.kernel === state.kernel)) state = {...defaults};
    const of = k => specimens.filter(s => s.kernel === k && s.fault !== '');
    if (state.fault && !of(state.kernel).some(s => s.fault === state.fault)) state.fault = '';
    byId('kernel').value = state.kernel;
    byId('fault').replaceChildren(element('option', {value: ''}, 'none: the correct kernel'),
      ...of(state.kernel).map(s => element('option', {value: s.fault}, s.fault)));
    byId('fault').value = state.fault;
    const s = chosen();
    byId('change').textContent = s.fault ? `Planted: ${s.change}.` : s.change;
    if (![...byId('schedule').options].some(o => o.value === state.schedule))
      state.schedule = defaults.schedule;
    byId('schedule').value = state.schedule;
    if (!/^\d{1,18}$/.test(state.seed)) state.seed = defaults.seed;
    byId('seed').value = state.seed;
    byId('size-box').hidden = !s.shape;
    if (s.shape) {
      byId('size').replaceChildren(...sizes.map(n => element('option', {value: n},
        n || `${s.shape[0]} x ${s.shape[1]} x ${s.shape[2]}`)));
      if (!sizes.includes(state.size)) state.size = '';
      byId('size').value = state.size;
    }
    byId('correct').disabled = s.fault === '';
  }

  function change(values) {
    choose(values);
    writeFragment(state, defaults);
  }

  function choose(values) {
    if (running) stop();
    state = {...state, ...values};
    fill();
    record = null;
    showSource([]);
    clearResult('Not run yet.');
  }

  // ---- a run ----

  const words = (s, run) => ['playground', 'run', s.name, '--schedule', run.schedule, '--seed',
                             run.seed, ...(s.shape && run.size ? ['--size', run.size] : [])];

  function clearResult(text) {
    byId('verdict').textContent = text;
    byId('verdict').className = 'verdict';
    byId('diagnosis').textContent = '';
    byId('timeline').replaceChildren();
    byId('events').replaceChildren();
    byId('step').textContent = 'Run a kernel first.';
    byId('progress').value = 0;
    document.body.dataset.ran = '';
  }

  function setRunning(now) {
    running = now;
    byId('run').disabled = now;
    byId('stop').disabled = !now;
  }

  function stop() {
    engine.stop();
    setRunning(false);
  }

  async function run() {
    if (running) return;
    const s = chosen();
    clearResult(`${s.name} is running ...`);
    setRunning(true);
    engine.onProgress = share => { byId('progress').value = share; };
    if (!s.shape) byId('progress').removeAttribute('value');  // its length is not known
    const begin = performance.now();
    try {
      const answer = await engine.text(words(s, state));
      byId('progress').value = 1;
      if (answer.status === 2) {
        byId('verdict').textContent = refusalText(answer);
        byId('verdict').className = 'verdict found';
        document.body.dataset.ran = 'refused';
        return;
      }
      show(s, recordOf(answer), performance.now() - begin);
    } catch (e) {
      clearResult(e.message === 'stopped' ? 'Stopped.' : e.message);
      document.body.dataset.ran = e.message === 'stopped' ? 'stopped' : 'failed';
    } finally {
      if (byId('progress').position < 0) byId('progress').value = 0;
      setRunning(false);
    }
  }

  function show(s, result, ms) {
    record = result;
    const diagnoses = result.report.diagnoses, verdict = byId('verdict');
    if (diagnoses.length) {
      verdict.textContent = `${diagnoses[0].code} ${diagnoses[0].kind}`;
      verdict.className = 'verdict found';
    } else if (result.wrong_elements > 0) {
      verdict.textContent = `No rule is broken, but ${result.wrong_elements} elements of the ` +
        'result are wrong.';
      verdict.className = 'verdict found';
    } else {
      verdict.textContent = 'Correct: no hazard was found, and every element of the result is right.';
      verdict.className = 'verdict clean';
    }
    verdict.append(` (${ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(1)} s`})`);
    byId('diagnosis').textContent = diagnoses.map(d => `${d.code} ${d.kind}\n${d.text}`).join('\n\n');
    showSource(diagnoses);
    showTimeline(result.timeline);
    document.body.dataset.ran = diagnoses.length ? diagnoses[0].code
      : result.wrong_elements > 0 ? 'wrong-result' : 'correct';
    document.body.dataset.ranMs = Math.round(ms);
  }

  // ---- the source ----

  /** The lines that a diagnosis names, "file:line" in its text, the reported one first. */
  function placesOf(d) {
    const places = [...d.text.matchAll(/([\w.\/+-]+\.(?:hpp|cpp)):(\d+)/g)]
      .map(m => ({file: m[1], line: Number(m[2])}));
    return d.file ? [{file: d.file, line: d.line}, ...places] : places;
  }

  /** The file of the reported line, or the one that was chosen of those that the report names. */
  function showSource(diagnoses, wanted = '') {
    const s = chosen(), box = byId('source');
    const places = diagnoses.flatMap(placesOf).filter(p => sources.files[p.file]);
    const files = [...new Set([...places.map(p => p.file), sources.kernels[s.kernel]])];
    const file = files.includes(wanted) ? wanted : files[0];
    byId('file').replaceChildren(...files.map(f => element('option', {value: f}, f)));
    byId('file').value = file;
    shownDiagnoses = diagnoses;
    const marks = new Map();
    places.filter(p => p.file === file).forEach((p, i) => {
      if (!marks.has(p.line)) marks.set(p.line, i === 0 ? 'reported' : 'earlier');
    });
    const word = s.fault.replaceAll('-', '_');
    box.replaceChildren(element('ol', {}, ...sources.files[file].split('\n').map((text, i) => {
      const line = i + 1, kind = marks.get(line);
      const planted = word !== '' && new RegExp(`(::|\\b)${word}\\b`).test(text);
      const item = element('li', {'data-line': line,
        class: [kind, planted && shownCorrect ? 'planted' : ''].filter(x => x).join(' ')}, text);
      if (kind) item.setAttribute('aria-label', `line ${line}, ${kind}: ${text}`);
      return item;
    })));
    const first = box.querySelector('.planted') || box.querySelector('.reported') ||
      box.querySelector('.earlier');
    if (first) box.scrollTop = first.offsetTop - box.offsetTop - box.clientHeight / 3;
  }
  let shownCorrect = false, shownDiagnoses = [];

  /** Runs the kernel without the fault, and outlines where the fault was planted. */
  async function showCorrect() {
    const fault = chosen();
    shownCorrect = true;
    showSource([]);
    const planted = [...byId('source').querySelectorAll('.planted')].map(l => l.dataset.line);
    const correct = specimens.find(s => s.kernel === fault.kernel && s.fault === '');
    clearResult(`${correct.name} is running ...`);
    setRunning(true);
    try {
      const answer = await engine.text(words(correct, state));
      const result = recordOf(answer);
      if (!result) throw new Error(refusalText(answer));
      const clean = result.report.diagnoses.length === 0 && !result.wrong_elements;
      byId('verdict').textContent = clean
        ? `Without "${fault.change}" the kernel is correct under this schedule.`
        : `${result.report.diagnoses[0]?.code ?? 'wrong result'} in the correct kernel: report it.`;
      byId('verdict').className = clean ? 'verdict clean' : 'verdict found';
      byId('diagnosis').textContent = planted.length
        ? `The fault is switched on in line ${planted.join(', ')} of the source below.` : '';
      record = result;
      showTimeline(result.timeline);
      document.body.dataset.ran = clean ? 'correct' : 'failed';
    } catch (e) {
      clearResult(e.message === 'stopped' ? 'Stopped.' : e.message);
    } finally {
      setRunning(false);
      shownCorrect = false;
    }
  }

  // ---- the timeline and its steps ----

  const mostEvents = 1500;

  function showTimeline(timeline) {
    const parsed = new DOMParser().parseFromString(timeline.svg, 'image/svg+xml');
    const svg = harmless(document.importNode(parsed.documentElement, true));
    byId('timeline').replaceChildren(svg);
    const rows = timeline.rows, slices = timeline.slices.slice(0, mostEvents);
    byId('events').replaceChildren(...slices.map(([row, kind, begin, end, name], i) =>
      element('li', {'data-index': i},
        `${begin}-${end}  CTA ${rows[row].cta}  ${rows[row].name}: ${name}`)));
    at = Math.max(0, slices.findIndex(slice => slice[1] === 'stuck'));
    showStep();
  }

  function showStep() {
    const timeline = record?.timeline;
    if (!timeline || timeline.slices.length === 0) {
      byId('step').textContent = 'The run recorded no events.';
      return;
    }
    const count = Math.min(timeline.slices.length, mostEvents);
    at = Math.min(Math.max(at, 0), count - 1);
    const [row, kind, begin, end, name, detail] = timeline.slices[at];
    byId('step').textContent = `${at + 1} of ${count}` +
      (timeline.all_slices > count ? ` (of ${timeline.all_slices} in all)` : '') +
      `: CTA ${timeline.rows[row].cta}, ${timeline.rows[row].name}, cycles ${begin} to ${end}: ` +
      `${name}${detail ? `, ${detail}` : ''} [${kind.replace('_', ' ')}]`;
    const list = byId('events'), item = list.children[at];
    list.querySelector('[aria-current]')?.removeAttribute('aria-current');
    item.setAttribute('aria-current', 'step');
    list.scrollTop = item.offsetTop - list.offsetTop - list.clientHeight / 2;
  }

  const steps = {'step-first': () => { at = 0; }, 'step-back': () => { --at; },
                 'step-on': () => { ++at; }, 'step-last': () => { at = Infinity; }};
  for (const [id, move] of Object.entries(steps)) {
    byId(id).addEventListener('click', () => {
      move();
      showStep();
    });
  }
  byId('events').addEventListener('click', e => {
    const item = e.target.closest('li');
    if (!item) return;
    at = Number(item.dataset.index);
    showStep();
  });
  byId('events').addEventListener('keydown', e => {
    if (e.key !== 'ArrowDown' && e.key !== 'ArrowUp') return;
    e.preventDefault();
    at += e.key === 'ArrowDown' ? 1 : -1;
    showStep();
  });

  // ---- controls ----

  byId('kernel').addEventListener('input', e => change({kernel: e.target.value, fault: '', size: ''}));
  byId('fault').addEventListener('input', e => change({fault: e.target.value}));
  byId('schedule').addEventListener('input', e => change({schedule: e.target.value}));
  byId('size').addEventListener('input', e => change({size: e.target.value}));
  byId('file').addEventListener('input', e => showSource(shownDiagnoses, e.target.value));
  byId('seed').addEventListener('change', e => change({seed: e.target.value.trim()}));
  byId('run-form').addEventListener('submit', e => {
    e.preventDefault();
    run();
  });
  byId('stop').addEventListener('click', stop);
  byId('correct').addEventListener('click', showCorrect);
  byId('copy-link').addEventListener('click', async () => {
    byId('copied').textContent = await copyText(location.href, 'link.txt');
  });
  byId('copy-command').addEventListener('click', async () => {
    const line = ['tilewright', ...words(chosen(), state)].map(shellWord).join(' ');
    byId('copied').textContent = await copyText(line, 'command.txt');
  });
  addEventListener('hashchange', () => choose(readFragment(defaults)));

  (async () => {
    const answer = await engine.text(['playground', 'list']);
    specimens = recordOf(answer).specimens;
    const group = (label, of) => element('optgroup', {label},
      ...specimens.filter(s => s.fault === '' && of(s)).map(s => {
        const faults = specimens.filter(x => x.kernel === s.kernel).length - 1;
        return element('option', {value: s.kernel},
          `${s.kernel.replace('ladder/', '')} (${faults} fault${faults === 1 ? '' : 's'})`);
      }));
    byId('kernel').append(group('The ladder', s => s.shape), group('Small kernels', s => !s.shape));
    fill();
    showSource([]);
    clearResult('Not run yet.');
    document.body.dataset.drawn = 'ready';
  })().catch(e => { byId('verdict').textContent = e.message; });
})();

// SPDX-License-Identifier: Apache-2.0
// html_page.hpp  The parts of a page that are the same for every picture: style, tools, script.
#pragma once

#include <string_view>

namespace tw {

inline constexpr std::string_view page_style = R"css(
body{margin:0;padding:14px 16px 70px;background:var(--ground);color:var(--text);
  font:14px/1.45 system-ui,sans-serif}
h1{font:600 17px/1.35 'DejaVu Sans Mono',Menlo,Consolas,monospace;margin:0 0 4px;
  overflow-wrap:anywhere}
header p{margin:2px 0;font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace;font-size:13px}
.legend{display:flex;flex-wrap:wrap;gap:2px 12px;margin:8px 0 0}
.legend svg{vertical-align:-3px}
#tools{display:flex;gap:6px;align-items:center;margin:10px 0 6px;flex-wrap:wrap}
#tools button{font:inherit;min-width:34px;min-height:30px}
#owners{display:flex;flex-wrap:wrap;gap:3px;max-height:9.5em;overflow:auto;margin:0 0 8px}
button{border:1px solid var(--quiet);border-radius:4px;background:var(--pale);
  color:var(--text);cursor:pointer}
#owners button{font:12px 'DejaVu Sans Mono',monospace;min-width:30px;min-height:24px;padding:0 5px}
button.on{background:var(--mark);border-color:var(--mark);color:var(--ground)}
button:focus-visible,#paper svg:focus-visible{outline:3px solid var(--mark);outline-offset:2px}
#paper{overflow:auto;max-width:100%}
#paper .l,.mark{vector-effect:non-scaling-stroke}
#paper svg{display:block;cursor:crosshair;touch-action:manipulation}
.mark{fill:var(--mark);fill-opacity:.22;stroke:var(--mark);stroke-width:2.5;pointer-events:none}
.mark.cursor{fill-opacity:.05;stroke-width:4}
.mark.small{fill-opacity:.85;stroke-width:1}
#info{position:fixed;left:0;right:0;bottom:0;margin:0;padding:8px 16px;min-height:1.5em;
  background:var(--pale);border-top:1px solid var(--quiet);overflow-wrap:anywhere;
  font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace;font-size:14px}
)css";

inline constexpr std::string_view page_tools = R"html(<div id="tools">
<button type="button" data-zoom="0.8" aria-label="smaller">−</button>
<button type="button" data-zoom="1.25" aria-label="larger">+</button>
<button type="button" data-zoom="0">1:1</button>
<span id="owners-title"></span>
</div>
<div id="owners"></div>
)html";

inline constexpr std::string_view page_status =
    "<p id=\"info\" role=\"status\" aria-live=\"polite\"></p>\n";

inline constexpr std::string_view page_script = R"js('use strict';
(() => {
  const picture = JSON.parse(document.getElementById('data').textContent);
  const paper = document.getElementById('paper');
  const svg = paper.querySelector('svg');
  const info = document.getElementById('info');
  const chips = new Map();  // owner -> its button
  const cells = new Map();  // owner -> [[panel, index], ...]
  const make = name => document.createElementNS(svg.namespaceURI, name);
  const layer = svg.appendChild(make('g'));
  const close = svg.appendChild(make('g'));  // texts that only fit when enlarged
  const named = picture.owner !== '' && picture.owner !== 'offset';
  const greeting = named
    ? `Hover a ${picture.owner} to see its cells, a cell to see its owners; click or Enter pins.`
    : 'Hover a cell; click or Enter pins, arrow keys move.';
  let zoom = 1, pinned = null, cursor = null;

  picture.panels.forEach((p, i) => p.owners.forEach((list, j) => {
    for (let k = 0; k < list.length; k += 2) {
      if (!cells.has(list[k])) cells.set(list[k], []);
      const known = cells.get(list[k]), last = known[known.length - 1];
      if (!last || last[0] !== i || last[1] !== j) known.push([i, j]);
    }
  }));

  function ownersOf([i, j]) {
    const list = picture.panels[i].owners[j];
    return [...new Set(list.filter((_, k) => k % 2 === 0))];
  }

  // Each cell once, also where several of the owners share it.
  function cellsOf(owners) {
    const found = new Map();
    for (const o of owners) for (const at of cells.get(o) || []) found.set(at.join(), at);
    return [...found.values()];
  }

  function mark([i, j], kind) {
    const p = picture.panels[i], r = make('rect');
    const row = Math.floor(j / p.columns), column = j % p.columns;
    r.setAttribute('class', kind + (Math.min(p.w, p.h) * zoom < 12 ? ' small' : ''));
    r.setAttribute('x', p.x + column * p.w);
    r.setAttribute('y', p.y + row * p.h);
    r.setAttribute('width', p.w);
    r.setAttribute('height', p.h);
    r.dataset.panel = i;
    r.dataset.row = row;
    r.dataset.column = column;
    layer.appendChild(r);
  }

  function say(what) {
    if (what.cell) {
      const p = picture.panels[what.cell[0]];
      return (p.title ? p.title + ': ' : '') + p.hints[what.cell[1]];
    }
    const list = cellsOf(what.owners);
    const parts = picture.panels.map((p, i) => {
      const mine = list.filter(at => at[0] === i).map(at => p.hints[at[1]]);
      const shown = mine.slice(0, 6).join('; ') + (mine.length > 6 ? '; ...' : '');
      return mine.length ? `${p.title || 'cells'} (${mine.length}): ${shown}` : '';
    });
    return `${picture.owner} ${what.owners.join(', ')} | ` + parts.filter(t => t).join(' | ');
  }

  // what: {owners: [...], cell: [panel, index] or null}, or null for nothing
  function show(what) {
    layer.replaceChildren();
    for (const chip of chips.values()) chip.classList.remove('on');
    if (!what) { info.textContent = greeting; return; }
    for (const at of cellsOf(what.owners)) mark(at, 'mark');
    for (const o of what.owners) if (chips.has(o)) chips.get(o).classList.add('on');
    if (what.cell) mark(what.cell, 'mark cursor');
    info.textContent = say(what);
  }

  function pin(what) {
    pinned = what;
    for (const [o, chip] of chips) {
      chip.setAttribute('aria-pressed', pinned !== null && pinned.owners.includes(o));
    }
    show(what);
  }

  const same = (a, b) => a && b && JSON.stringify(a) === JSON.stringify(b);

  function cellAt(event) {
    const at = new DOMPoint(event.clientX, event.clientY)
      .matrixTransform(svg.getScreenCTM().inverse());
    for (let i = 0; i < picture.panels.length; ++i) {
      const p = picture.panels[i];
      const column = Math.floor((at.x - p.x) / p.w), row = Math.floor((at.y - p.y) / p.h);
      if (column >= 0 && row >= 0 && column < p.columns && row < p.rows) {
        const j = row * p.columns + column;
        return p.hints[j] === '' ? null : [i, j];
      }
    }
    return null;
  }
  const ofCell = cell => cell && {owners: ownersOf(cell), cell};

  svg.addEventListener('pointermove', e => show(ofCell(cellAt(e)) || pinned));
  svg.addEventListener('pointerleave', () => show(pinned));
  svg.addEventListener('click', e => {
    const what = ofCell(cellAt(e));
    cursor = what ? what.cell : cursor;
    pin(same(what, pinned) ? null : what);
  });
  svg.setAttribute('tabindex', '0');
  svg.setAttribute('role', 'application');
  svg.setAttribute('aria-label', document.title + '. Arrow keys move from cell to cell.');

  const steps = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};
  function move([down, right]) {
    if (!cursor) { cursor = [0, 0]; return; }
    let [i, j] = cursor;
    const p = picture.panels[i];
    const row = Math.floor(j / p.columns) + down, column = j % p.columns + right;
    if (row >= 0 && column >= 0 && row < p.rows && column < p.columns) {
      cursor = [i, row * p.columns + column];
      return;
    }
    const other = picture.panels[i + down + right];  // past an edge: the neighbouring panel
    if (other) cursor = [i + down + right, 0];
  }
  svg.addEventListener('keydown', e => {
    if (steps[e.key]) {
      move(steps[e.key]);
      show(ofCell(cursor));
      e.preventDefault();
    } else if (e.key === 'Enter' || e.key === ' ') {
      const what = ofCell(cursor);
      pin(same(what, pinned) ? null : what);
      e.preventDefault();
    }
  });
  document.addEventListener('keydown', e => { if (e.key === 'Escape') pin(null); });

  if (named && cells.size <= 1024) {
    const box = document.getElementById('owners');
    document.getElementById('owners-title').textContent = `${cells.size} ${picture.owner}s:`;
    for (const o of [...cells.keys()].sort((a, b) => a - b)) {
      const chip = document.createElement('button');
      const what = {owners: [o], cell: null};
      chip.type = 'button';
      chip.textContent = o;
      chip.dataset.owner = o;
      chip.setAttribute('aria-label', `${picture.owner} ${o}`);
      chip.setAttribute('aria-pressed', 'false');
      chip.addEventListener('pointerenter', () => show(what));
      chip.addEventListener('pointerleave', () => show(pinned));
      chip.addEventListener('focus', () => show(what));
      chip.addEventListener('blur', () => show(pinned));
      chip.addEventListener('click', () => pin(same(what, pinned) ? null : what));
      chips.set(o, chip);
      box.appendChild(chip);
    }
  }

  // Texts of cells that are too small at 1:1, for the part that is visible, when there is room.
  function fill() {
    close.replaceChildren();
    const inverse = svg.getScreenCTM().inverse();
    const box = paper.getBoundingClientRect();
    const at = (x, y) => new DOMPoint(x, y).matrixTransform(inverse);
    const from = at(Math.max(0, box.left), Math.max(0, box.top));
    const to = at(Math.min(innerWidth, box.right), Math.min(innerHeight, box.bottom));
    for (const p of picture.panels) {
      if (p.font > 0) continue;
      const lines = p.texts.map(t => t.split('\n'));
      const longest = Math.max(1, ...[...new Set(lines.flat().map(t => t.length))]);
      const tallest = Math.max(1, ...[...new Set(lines.map(l => l.length))]);
      const font = Math.min(0.94 * p.w / (0.61 * longest), 0.9 * p.h / (1.09 * tallest));
      if (font * zoom < 6) continue;
      const g = close.appendChild(make('g'));
      g.setAttribute('font-size', font);
      const clip = (v, most) => Math.max(0, Math.min(most, v));
      const left = clip(Math.floor((from.x - p.x) / p.w), p.columns);
      const right = clip(Math.ceil((to.x - p.x) / p.w), p.columns);
      const top = clip(Math.floor((from.y - p.y) / p.h), p.rows);
      const bottom = clip(Math.ceil((to.y - p.y) / p.h), p.rows);
      for (let r = top; r < bottom; ++r) {
        for (let c = left; c < right; ++c) {
          lines[r * p.columns + c].forEach((line, k, all) => {
            const text = g.appendChild(make('text'));
            text.setAttribute('x', p.x + (c + 0.5) * p.w);
            text.setAttribute('y', p.y + (r + 0.5) * p.h + 0.36 * font +
              1.09 * font * (k - (all.length - 1) / 2));
            text.textContent = line;
          });
        }
      }
    }
    const room = close.childElementCount > 0;
    for (const g of svg.querySelectorAll('.k')) g.style.display = room ? 'none' : '';
  }
  let waiting = 0;
  const later = () => { clearTimeout(waiting); waiting = setTimeout(fill, 60); };
  if (picture.panels.some(p => p.font === 0)) {
    for (const [where, event] of [[window, 'scroll'], [window, 'resize'], [paper, 'scroll']]) {
      where.addEventListener(event, later, {passive: true});
    }
  }
  const natural = svg.viewBox.baseVal.width;
  for (const button of document.querySelectorAll('[data-zoom]')) {
    button.addEventListener('click', () => {
      const by = Number(button.dataset.zoom);
      zoom = by === 0 ? 1 : Math.max(0.2, Math.min(12, zoom * by));
      svg.setAttribute('width', natural * zoom);
      svg.setAttribute('height', svg.viewBox.baseVal.height * zoom);
      later();
    });
  }
  show(null);
})();
)js";

}  // namespace tw

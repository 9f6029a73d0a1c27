// SPDX-License-Identifier: Apache-2.0
// picture.js  A picture of `tilewright layout --print html` inside a page: its drawing and its data
//             are taken out of it, and hovering marks the cells of a thread or a coordinate.
'use strict';

const svgNames = new Set(['svg', 'g', 'path', 'text', 'tspan', 'title', 'rect', 'line', 'style',
                          'polyline', 'polygon', 'circle']);

/** Removes what the command never writes: the text of a picture comes from a link. */
function harmless(svg) {
  for (const node of [svg, ...svg.querySelectorAll('*')]) {
    if (!svgNames.has(node.localName)) {
      node.remove();
      continue;
    }
    for (const {name, value} of [...node.attributes]) {
      if (/^on|href$/i.test(name) || /url\s*\(|javascript:/i.test(value)) node.removeAttribute(name);
    }
  }
  return svg;
}

/** {svg, data, title, captions, legend} of a page; null where there is none. */
function partsOfPicture(html) {
  const page = new DOMParser().parseFromString(html, 'text/html');
  const svg = page.querySelector('#paper svg'), data = page.getElementById('data');
  if (!svg || !data) return null;
  return {
    svg: harmless(svg),
    data: JSON.parse(data.textContent),
    title: page.querySelector('h1').textContent,
    captions: [...page.querySelectorAll('header p:not(.legend)')].map(p => p.textContent),
    legend: [...page.querySelectorAll('header .legend > span')].map(s => ({
      style: s.querySelector('path').getAttribute('class'), text: s.textContent.trim()})),
  };
}

class Picture {
  /** box: the element that holds it; say: called with a text for the marked cells. */
  constructor(box, say) {
    this.box = box;
    this.say = say;
    this.parts = null;
    this.pinned = null;
    this.cursor = null;
    this.partner = null;
  }

  clear() {
    this.parts = null;
    this.box.replaceChildren();
  }

  draw(html) {
    const parts = partsOfPicture(html);
    if (!parts) return false;
    this.parts = parts;
    this.pinned = this.cursor = null;
    const svg = parts.svg;
    svg.setAttribute('tabindex', '0');
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', [parts.title, ...parts.captions,
      'Arrow keys move from cell to cell.'].join('. '));
    const legend = element('p', {class: 'legend'});
    for (const {style, text} of parts.legend) {
      const sample = document.createElementNS(svg.namespaceURI, 'svg');
      const path = document.createElementNS(svg.namespaceURI, 'path');
      sample.setAttribute('class', 'tw');
      sample.setAttribute('width', 16);
      sample.setAttribute('height', 16);
      sample.setAttribute('aria-hidden', 'true');
      path.setAttribute('class', style);
      path.setAttribute('d', 'M0 0h16v16h-16z');
      sample.append(path);
      legend.append(element('span', {}, sample, ' ' + text));
    }
    this.layer = document.createElementNS(svg.namespaceURI, 'g');
    this.differences = document.createElementNS(svg.namespaceURI, 'g');
    svg.append(this.differences, this.layer);
    const frame = element('div', {class: 'frame'}, svg);
    this.box.replaceChildren(element('h2', {}, parts.title),
      ...parts.captions.map(text => element('p', {class: 'caption'}, text)), legend, frame);
    this.index();
    this.listen(svg);
    return true;
  }

  index() {
    this.cells = new Map();  // owner -> [[panel, cell], ...]
    this.parts.data.panels.forEach((p, i) => p.owners.forEach((list, j) => {
      for (let k = 0; k < list.length; k += 2) {
        if (!this.cells.has(list[k])) this.cells.set(list[k], []);
        this.cells.get(list[k]).push([i, j]);
      }
    }));
  }

  /** What each coordinate has, "(1,2)" -> "17", of the panels whose hints are such. */
  values() {
    const values = new Map();
    this.parts.data.panels.forEach((p, i) => p.hints.forEach((hint, j) => {
      const arrow = hint.indexOf(' → ');
      if (arrow > 0) values.set(hint.slice(0, arrow), {value: hint.slice(arrow + 3), at: [i, j]});
    }));
    return values;
  }

  rectangle(layer, [i, j], kind) {
    const p = this.parts.data.panels[i], row = Math.floor(j / p.columns), column = j % p.columns;
    const r = document.createElementNS(this.parts.svg.namespaceURI, 'rect');
    r.setAttribute('class', kind);
    r.setAttribute('x', p.x + column * p.w);
    r.setAttribute('y', p.y + row * p.h);
    r.setAttribute('width', p.w);
    r.setAttribute('height', p.h);
    layer.append(r);
  }

  /** Marks the cells whose values are others in `values`; returns how many. */
  markDifferences(values) {
    this.differences.replaceChildren();
    let count = 0;
    for (const [coordinate, {value, at}] of this.values()) {
      const other = values.get(coordinate);
      if (other && other.value === value) continue;
      this.rectangle(this.differences, at, 'difference');
      ++count;
    }
    return count;
  }

  show(cell) {
    this.layer.replaceChildren();
    if (!cell) {
      this.say('');
      return;
    }
    const panels = this.parts.data.panels, [i, j] = cell;
    const owners = [...new Set(panels[i].owners[j].filter((_, k) => k % 2 === 0))];
    const marked = new Map([[cell.join(), cell]]);
    if (this.parts.data.owner) {
      for (const o of owners) for (const at of this.cells.get(o) || []) marked.set(at.join(), at);
    }
    for (const at of marked.values()) this.rectangle(this.layer, at, 'mark');
    this.rectangle(this.layer, cell, 'mark cursor');
    const title = panels[i].title;
    this.say((title ? title + ': ' : '') + panels[i].hints[j]);
  }

  showBoth(cell) {
    this.show(cell);
    if (!this.partner || !this.partner.parts || !cell) return;
    const hint = this.parts.data.panels[cell[0]].hints[cell[1]];
    const other = this.partner.values().get(hint.split(' → ')[0]);
    const mine = this.say;
    if (!other) return;
    this.partner.layer.replaceChildren();
    this.partner.rectangle(this.partner.layer, other.at, 'mark cursor');
    mine(`${hint}; in the other ${other.value}`);
  }

  cellAt(event) {
    const svg = this.parts.svg, matrix = svg.getScreenCTM();
    if (!matrix) return null;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    const panels = this.parts.data.panels;
    for (let i = 0; i < panels.length; ++i) {
      const p = panels[i];
      const column = Math.floor((at.x - p.x) / p.w), row = Math.floor((at.y - p.y) / p.h);
      if (column >= 0 && row >= 0 && column < p.columns && row < p.rows) {
        const j = row * p.columns + column;
        return p.hints[j] === '' ? null : [i, j];
      }
    }
    return null;
  }

  listen(svg) {
    svg.addEventListener('pointermove', e => this.showBoth(this.cellAt(e) || this.pinned));
    svg.addEventListener('pointerleave', () => this.showBoth(this.pinned));
    svg.addEventListener('click', e => {
      const cell = this.cellAt(e);
      const same = cell && this.pinned && cell.join() === this.pinned.join();
      this.pinned = same ? null : cell;
      this.cursor = cell || this.cursor;
      this.showBoth(this.pinned);
    });
    const steps = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};
    svg.addEventListener('keydown', e => {
      if (e.key === 'Escape') {
        this.pinned = null;
        this.showBoth(null);
        return;
      }
      const step = steps[e.key];
      if (!step) return;
      e.preventDefault();
      this.move(step);
      this.showBoth(this.cursor);
    });
  }

  move([down, right]) {
    if (!this.cursor) {
      this.cursor = [0, 0];
      return;
    }
    const [i, j] = this.cursor, panels = this.parts.data.panels, p = panels[i];
    const row = Math.floor(j / p.columns) + down, column = j % p.columns + right;
    if (row >= 0 && column >= 0 && row < p.rows && column < p.columns) {
      this.cursor = [i, row * p.columns + column];
    } else if (panels[i + down + right]) {
      this.cursor = [i + down + right, 0];
    }
  }
}

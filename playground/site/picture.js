// SPDX-License-Identifier: Apache-2.0
// picture.js  A picture of `tilewright layout --print html` inside a page: its drawing (sheet.js) and
//             its data are taken out of it, and hovering marks the cells of a thread or a coordinate.
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

/** {drawing, data, title, captions, legend} of a page; null where there is none. The drawing and the
 *  data, which are most of it, are not parsed as elements. */
function partsOfPicture(html) {
  const svg = html.indexOf('<svg class="tw" viewBox'), end = html.indexOf('</svg>', svg) + 6;
  const data = html.indexOf('id="data">') + 10, endOfData = html.indexOf('</script>', data);
  if (svg < 0 || data < 10) return null;
  const page = new DOMParser().parseFromString(html.slice(0, svg), 'text/html');
  return {
    drawing: drawingOf(html.slice(svg, end)),
    get data() {  // read when one hovers
      return this.parsed ??= JSON.parse(html.slice(data, endOfData));
    },
    title: page.querySelector('h1').textContent,
    captions: [...page.querySelectorAll('header p:not(.legend)')].map(p => p.textContent),
    legend: [...page.querySelectorAll('header .legend > span')].map(s => ({
      style: s.querySelector('path').getAttribute('class'), text: s.textContent.trim()})),
  };
}

function svgElement(name, attributes = {}) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

class Picture {
  /** box: the element that holds it, and has it as `picture`; say: called with a text for the
   *  marked cells. */
  constructor(box, say) {
    this.box = box;
    box.picture = this;
    this.say = say;
    this.parts = null;
    this.pinned = null;
    this.cursor = null;
    this.partner = null;
  }

  clear(parts = null) {
    this.parts = parts;
    if (this.sheet) this.sheet.end();
    this.box.replaceChildren();
  }

  draw(html) {
    const parts = partsOfPicture(html);
    if (!parts) return false;
    this.parts = parts;
    this.pinned = this.cursor = this.known = null;
    const {width, height} = parts.drawing, old = this.sheet?.drawing;
    const kept = this.frame?.parentElement === this.box && old.width === width &&
      old.height === height;
    if (!kept) this.makeFrame();
    this.layer.replaceChildren();
    this.differences.replaceChildren();
    this.svg.setAttribute('aria-label', [parts.title, ...parts.captions,
      'Arrow keys move from cell to cell.'].join('. '));
    for (const child of [...this.box.children]) if (child !== this.frame) child.remove();
    this.frame.before(element('h2', {}, parts.title),
      ...parts.captions.map(text => element('p', {class: 'caption'}, text)), this.legend());
    if (kept) this.sheet.show(parts.drawing); else this.sheet.begin();
    return true;
  }

  /** An empty sheet of the drawing's size, with the marks above. */
  makeFrame() {
    const {drawing} = this.parts, svg = svgElement('svg', {class: 'tw', tabindex: 0, role: 'img',
      viewBox: `0 0 ${drawing.width} ${drawing.height}`});
    this.svg = svg;
    this.layer = svgElement('g');
    this.differences = svgElement('g');
    svg.append(this.differences, this.layer);
    this.clear(this.parts);
    this.sheet = new Sheet(drawing, svg);
    this.frame = element('div', {class: 'frame'}, this.sheet.box);
    this.box.replaceChildren(this.frame);
    this.listen(svg);
  }

  legend() {
    return element('p', {class: 'legend'}, ...this.parts.legend.map(({style, text}) => {
      const sample = svgElement('svg', {class: 'tw', width: 16, height: 16, 'aria-hidden': 'true'});
      sample.append(svgElement('path', {class: style, d: 'M0 0h16v16h-16z'}));
      return element('span', {}, sample, ' ' + text);
    }));
  }

  /** Cells of each owner: owner -> [[panel, cell], ...]. */
  get cells() {
    if (this.known) return this.known;
    this.known = new Map();
    this.parts.data.panels.forEach((p, i) => p.owners.forEach((list, j) => {
      for (let k = 0; k < list.length; k += 2) {
        if (!this.known.has(list[k])) this.known.set(list[k], []);
        this.known.get(list[k]).push([i, j]);
      }
    }));
    return this.known;
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

  /** The rectangle of a cell. */
  rectangle(layer, [i, j], kind) {
    const p = this.parts.data.panels[i], row = Math.floor(j / p.columns), column = j % p.columns;
    layer.append(svgElement('rect', {class: kind, x: p.x + column * p.w, y: p.y + row * p.h,
                                     width: p.w, height: p.h}));
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
    const svg = this.svg, matrix = svg.getScreenCTM();
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

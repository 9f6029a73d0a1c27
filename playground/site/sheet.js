// SPDX-License-Identifier: Apache-2.0
// sheet.js  A drawing of the command on canvases. A picture of 64 x 64 cells has 4,096 texts: as
//           elements of the page they take a browser half a second, and here only those in sight
//           are drawn.
'use strict';

const tileWidth = 1024, tileHeight = 512;  // of a canvas, in pixels of the page
const entities = {amp: '&', lt: '<', gt: '>', quot: '"'};

/** {width, height, items} of an SVG that the command wrote (tools/picture/write_svg.cpp): its
 *  paths and texts in order, each with its group, which has the place, the classes and the size of
 *  letters. */
function drawingOf(svg) {
  const items = [], groups = [{x: 0, y: 0, classes: '', font: 0, turned: false}];
  const [, width, height] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(svg);
  // The first form is that of the cells.
  const elements = /<text x="([^"]*)" y="([^"]*)">([^<]*)<|<(\/?)(\w+)([^>]*)>([^<]*)/g;
  const plain = text => text.replace(/&(\w+);/g, (whole, e) => entities[e] ?? whole);
  for (const [, x, y, text, close, name, inside, own] of svg.matchAll(elements)) {
    const outer = groups[groups.length - 1];
    if (x !== undefined) {
      items.push({group: outer, x: Number(x), y: Number(y), text: plain(text)});
      continue;
    }
    if (close) {
      if (name === 'g') groups.pop();
      continue;
    }
    const value = {};
    for (const [, key, v] of inside.matchAll(/([\w-]+)="([^"]*)"/g)) value[key] = v;
    const at = /translate\((\S+) (\S+)\)( rotate)?/.exec(value.transform || '');
    const group = {
      x: outer.x + (at ? Number(at[1]) : 0), y: outer.y + (at ? Number(at[2]) : 0),
      classes: value.class ? `${outer.classes} ${value.class}` : outer.classes,
      font: value['font-size'] ? Number(value['font-size']) : outer.font,
      turned: at !== null && at[3] !== undefined,
    };
    if (name === 'g') {
      groups.push(group);
    } else if (name === 'path') {
      items.push({group, path: new Path2D(value.d), width: Number(value['stroke-width'] || 0)});
    } else if (name === 'text') {
      items.push({group, x: Number(value.x || 0), y: Number(value.y || 0), text: plain(own)});
    }
  }
  return {width: Number(width), height: Number(height), items};
}

class Sheet {
  /** above: the SVG element over the drawing; its styles give the colours. */
  constructor(drawing, above) {
    this.drawing = drawing;
    this.above = above;
    this.tiles = new Map();  // canvas -> its corner
    this.unfinished = new Set();  // canvases near the sight of which a part is missing
    this.box = element('div', {class: 'sheet'});
    this.box.style.width = `${drawing.width}px`;
    this.box.style.height = `${drawing.height}px`;
    for (let y = 0; y < drawing.height; y += tileHeight) {
      for (let x = 0; x < drawing.width; x += tileWidth) {
        const tile = element('canvas', {width: 0, height: 0});
        tile.style.cssText = `left:${x}px;top:${y}px;` +
          `width:${Math.min(tileWidth, drawing.width - x)}px;` +
          `height:${Math.min(tileHeight, drawing.height - y)}px`;
        this.tiles.set(tile, [x, y]);
        this.box.append(tile);
      }
    }
    this.box.append(above);
  }

  /** Draws what is in sight now, and what is near to it soon. To be called in the page. */
  begin() {
    this.end();
    this.watcher = new IntersectionObserver(entries => entries.forEach(e => {
      if (!e.isIntersecting) {
        e.target.width = 0;  // its memory is free
        this.unfinished.delete(e.target);
      } else if (e.target.width === 0) {
        this.paint(e.target);
      }
    }), {rootMargin: '300px'});
    for (const tile of this.tiles.keys()) this.watcher.observe(tile);
    // The colours or the pixels of the screen change.
    this.changes = ['(prefers-color-scheme: dark)', `(resolution: ${devicePixelRatio}dppx)`]
      .map(q => matchMedia(q));
    this.again = () => this.begin();
    for (const query of this.changes) query.addEventListener('change', this.again);
    this.styles = new Map();
    this.show(this.drawing);
  }

  /** The same with another drawing of this size. */
  show(drawing) {
    this.drawing = drawing;
    const frame = this.box.parentElement.getBoundingClientRect();
    const box = this.box.getBoundingClientRect();
    const seen = {left: frame.left - box.left, right: frame.right - box.left,
                  top: Math.max(frame.top, 0) - box.top,
                  bottom: Math.min(frame.bottom, innerHeight) - box.top};
    for (const [tile, [left, top]] of this.tiles) {
      if (left < seen.right && left + tileWidth > seen.left && top < seen.bottom &&
          top + tileHeight > seen.top) {
        this.paint(tile, seen);
      } else if (tile.width > 0) {
        this.unfinished.add(tile);
      }
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      for (const tile of this.unfinished) this.paint(tile);
    }, 100);
  }

  /** Stops to look at the page; the canvases stay. */
  end() {
    clearTimeout(this.timer);
    if (this.watcher) this.watcher.disconnect();
    for (const query of this.changes || []) query.removeEventListener('change', this.again);
  }

  /** The computed fill and stroke of an element `name` with these classes. */
  style(name, classes) {
    const key = `${name} ${classes}`;
    if (!this.styles.has(key)) {
      const node = document.createElementNS(this.above.namespaceURI, name);
      node.setAttribute('class', classes);
      this.above.append(node);
      const {fill, stroke} = getComputedStyle(node);
      node.remove();
      this.styles.set(key, {fill, stroke});
    }
    return this.styles.get(key);
  }

  /** Sets colours, lines and letters for an item and those after it in its group. */
  prepare(to, {group, path, width}) {
    const has = name => group.classes.includes(` ${name}`);
    if (path && has('l')) {
      to.strokeStyle = this.style('path', 'l').stroke;
      to.lineWidth = width;
      return {filled: false, stroked: true};
    }
    to.fillStyle = this.style(path ? 'path' : 'text', group.classes).fill;
    to.strokeStyle = this.style('g', 'f').stroke;
    if (path) {
      to.lineWidth = 0.7;
      return {filled: true, stroked: has('f') && !has('m')};
    }
    to.font = `${has('b') ? 'bold ' : ''}${group.font}px ` +
      "'DejaVu Sans Mono', Menlo, Consolas, monospace";
    to.textAlign = has('s') || has('k') ? 'left' : has('e') ? 'right' : 'center';
    to.lineWidth = 2.5;
    return {filled: true, stroked: has('k')};
  }

  /** Draws a canvas, or at least its part in the rectangle `seen`. */
  paint(tile, seen = null) {
    const [left, top] = this.tiles.get(tile), scale = devicePixelRatio;
    const right = Math.min(left + tileWidth, this.drawing.width);
    const bottom = Math.min(top + tileHeight, this.drawing.height);
    const width = Math.ceil((right - left) * scale), height = Math.ceil((bottom - top) * scale);
    const part = seen
      ? {left: Math.max(left, seen.left), right: Math.min(right, seen.right),
         top: Math.max(top, seen.top), bottom: Math.min(bottom, seen.bottom)}
      : {left, right, top, bottom};
    const whole = part.left === left && part.right === right && part.top === top &&
      part.bottom === bottom;
    if (whole) this.unfinished.delete(tile); else this.unfinished.add(tile);
    const to = tile.getContext('2d');
    if (tile.width === width && tile.height === height) {
      to.setTransform(1, 0, 0, 1, 0, 0);
      to.clearRect(0, 0, width, height);
    } else {
      tile.width = width;
      tile.height = height;
    }
    to.lineJoin = 'round';
    let group = null, how;
    for (const item of this.drawing.items) {
      const {text, path} = item;
      if (text !== undefined && !item.group.turned) {
        const x = item.x + item.group.x, y = item.y + item.group.y, font = item.group.font;
        const reach = font * text.length;
        if (y + font < part.top || y - font > part.bottom || x + reach < part.left ||
            x - reach > part.right) continue;
      }
      if (item.group !== group) {
        group = item.group;
        to.setTransform(scale, 0, 0, scale, (group.x - left) * scale, (group.y - top) * scale);
        if (group.turned) to.rotate(-Math.PI / 2);
        how = this.prepare(to, item);
      }
      if (path) {
        if (how.filled) to.fill(path);
        if (how.stroked) to.stroke(path);
      } else {
        if (how.stroked) to.strokeText(text, item.x, item.y);
        to.fillText(text, item.x, item.y);
      }
    }
  }
}

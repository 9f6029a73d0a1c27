// SPDX-License-Identifier: Apache-2.0
// charts.js  Bars and the roofline.
'use strict';

/** Rows {name, value, text} as bars; the widest is the largest. */
function drawBars(box, rows) {
  const most = Math.max(...rows.map(r => r.value), 1e-9);
  box.replaceChildren(...rows.flatMap(r => {
    const bar = element('div', {class: 'bar', role: 'presentation'});
    bar.style.width = `${Math.max(0.2, 100 * r.value / most)}%`;
    return [element('span', {}, r.name), bar, element('span', {class: 'number'}, r.text)];
  }));
}

/** A roofline of the levels of `tilewright roofline --json`: FLOP per byte against TFLOP/s. */
function drawRoofline(box, record) {
  // As wide as there is room: a smaller scale would make the text too small to read.
  const width = Math.max(260, Math.min(460, box.clientWidth || 460));
  const height = 290, left = 52, bottom = 40, top = 48, right = 24;
  const space = 'http://www.w3.org/2000/svg';
  const make = (name, attributes, text) => {
    const made = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const rate = pair => pair.measured ?? pair.data_sheet;
  const peak = rate(record.tensor_tflops);
  const levels = record.levels.filter(l => rate(l.gb_per_s) > 0 && l.flop_per_byte > 0);
  const intensities = levels.flatMap(l => [l.flop_per_byte, peak * 1000 / rate(l.gb_per_s)]);
  const low = Math.floor(Math.log10(Math.min(...intensities, 10))) ;
  const high = Math.ceil(Math.log10(Math.max(...intensities, 1000)));
  const yHigh = Math.ceil(Math.log10(peak)), yLow = yHigh - 3;
  const x = v => left + (width - left - right) * (Math.log10(v) - low) / (high - low);
  const y = v => top + (height - top - bottom) *
    (1 - (Math.max(Math.log10(v), yLow) - yLow) / (yHigh - yLow));
  const svg = make('svg', {viewBox: `0 0 ${width} ${height}`, width, height, role: 'img',
                           class: 'chart'});
  const described = levels.map(l =>
    `${l.level}: ${l.flop_per_byte.toPrecision(3)} FLOP per byte, ${rate(l.gb_per_s)} GB/s` +
    (l.bounds ? ', which bounds it' : '')).join('; ');
  svg.append(make('title', {}, `Roofline of ${record.m} x ${record.n} x ${record.k} on ` +
    `${record.device_name}: tensor cores ${peak} TFLOP/s; ${described}; attainable ` +
    `${record.attainable_tflops.toPrecision(3)} TFLOP/s.`));
  for (let e = low; e <= high; ++e) {
    svg.append(make('path', {class: 'grid', d: `M${x(10 ** e)} ${top}V${height - bottom}`}));
    svg.append(make('text', {x: x(10 ** e), y: height - bottom + 16, 'text-anchor': 'middle'},
                    String(10 ** e)));
  }
  for (let e = yLow; e <= yHigh; ++e) {
    svg.append(make('path', {class: 'grid', d: `M${left} ${y(10 ** e)}H${width - right}`}));
    svg.append(make('text', {x: left - 6, y: y(10 ** e) + 4, 'text-anchor': 'end'},
                    String(10 ** e)));
  }
  svg.append(make('text', {x: (left + width) / 2, y: height - 6, 'text-anchor': 'middle'},
                  'FLOP per byte'));
  svg.append(make('text', {x: 4, y: 14}, 'TFLOP/s'));
  svg.append(make('path', {class: 'roof', d: `M${left} ${y(peak)}H${width - right}`}));
  levels.forEach((l, i) => {
    const begin = 10 ** low, ridge = peak * 1000 / rate(l.gb_per_s);
    const slope = v => v * rate(l.gb_per_s) / 1000;
    const from = Math.max(begin, 10 ** yLow / (rate(l.gb_per_s) / 1000));
    if (from < ridge) {
      svg.append(make('path', {class: `roof level${i}`,
                               d: `M${x(from)} ${y(slope(from))}L${x(ridge)} ${y(peak)}`}));
    }
    const reached = Math.min(peak, slope(l.flop_per_byte));
    svg.append(make('circle', {class: `dot level${i}`, cx: x(l.flop_per_byte), cy: y(reached),
                               r: l.bounds ? 6 : 4}));
    svg.append(make('text', {x: Math.min(x(l.flop_per_byte), width - 60),
                             y: y(reached) - 10 - 12 * (i % 2), 'text-anchor': 'middle',
                             class: 'name'}, l.level));
  });
  box.replaceChildren(svg);
}

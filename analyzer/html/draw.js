// The few shapes that the page is drawn with.

// The functions that draw a section each: what a file of sections/ adds at its end. None reads what another has drawn.
const sections = [];
// The functions that draw what is beside a finding, by name: what a file of pictures/ adds at its end. Each takes what
// the file of that name beside it gives, and returns the elements.
const pictures = {};

// element('td', {class: 'number'}, 'text', child)
function element(tag, attributes, ...children) {
  const drawn = tag.startsWith('svg:');
  const node = drawn ? document.createElementNS('http://www.w3.org/2000/svg', tag.slice(4)) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.filter(child => child !== null && child !== undefined));
  return node;
}
// A figure and its unit stay on one line.
const figuresTogether = text => text.replace(/(\d) (%|ns|µs|ms|s|B|kB|MB|GB|TB)(?![\w])/g, '$1\u00a0$2');
// Text in which `names and commands` stand out.
function prose(text) {
  return figuresTogether(text).split('`').map((part, index) => index % 2 ? element('code', {}, part) : part);
}
const byId = id => document.getElementById(id);
function fill(id, ...children) {
  byId(id).replaceChildren(...children.filter(child => child !== null && child !== undefined));
}
const quiet = (...text) => element('p', {class: 'quiet'}, ...text);

// table([['rank', 'number'], ['host']], rows): a row is a list of cells, or {cells, attributes}. A table that
// is wider than its card scrolls in it.
function table(columns, rows) {
  const head = element('tr', {}, ...columns.map(([title, kind]) => element('th', {class: kind}, title)));
  const body = rows.map(row => {
    const {cells, attributes} = Array.isArray(row) ? {cells: row, attributes: {}} : row;
    return element('tr', attributes, ...cells.map((cell, at) => element('td', {class: columns[at][1]}, cell)));
  });
  return element('div', {class: 'scroll'}, element('table', {}, element('thead', {}, head), element('tbody', {}, ...body)));
}
function swatches(...entries) {
  return element('div', {class: 'legend'}, ...entries.map(([colour, label]) =>
    element('span', {}, element('i', {class: 'swatch', style: 'background:' + colour}), label)));
}

// A tooltip for whatever is under the mouse.
function tell(event, text) {
  const tip = byId('tip');
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + 'px';
  tip.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - box.height - 8)) + 'px';
}
function hush() { byId('tip').hidden = true; }
function telling(text) {
  return {onmousemove: event => tell(event, text()), onmouseleave: hush};
}
// Attributes of what can be clicked, and reached by keyboard.
function pressing(action) {
  return {tabindex: 0, onclick: action, onkeydown: event => { if (event.key === 'Enter') action(); }};
}

// A stacked bar of [value, colour, label] on a scale.
function stacked(parts, scale, height = 14, of = 'the longest') {
  const svg = element('svg:svg', {viewBox: `0 0 1000 ${height}`, height, preserveAspectRatio: 'none', role: 'img'});
  let at = 0;
  for (const [value, colour, label] of parts) {
    if (!(value > 0)) continue;
    const width = 1000 * value / scale;
    svg.append(element('svg:rect', {x: at, y: 0, width, height, fill: colour, ...telling(() => `${label}: ${duration(Math.round(value))} (${share(value, scale)} of ${of})`)}));
    at += width;
  }
  return svg;
}

// [exposed, hidden] of waiting and transfer, of which no more is known than the sum.
const exposedParts = (all, exposed, colour) => exposed === null ? [[all, style('--weak'), 'not known how much is hidden']] : [[exposed, colour, 'exposed'], [all - exposed, style('--hidden'), 'hidden by compute']];

// Of a row of data.buckets.
const bucketParts = ([, , , , , wait, transfer, , exposedTransfer, exposedWait]) => exposedTransfer === null
  ? [[transfer + (wait || 0), style('--strong'), 'transfer and waiting']]
  : [[exposedTransfer, colourOf('transfer'), 'exposed transfer'], [exposedWait || 0, colourOf('barrier_wait'), 'exposed wait'], [Math.max(0, transfer + (wait || 0) - exposedTransfer - (exposedWait || 0)), style('--hidden'), 'hidden']];
const bucketLegend = () => swatches([colourOf('transfer'), 'exposed transfer'], [colourOf('barrier_wait'), 'exposed wait'], [style('--hidden'), 'hidden by compute']);

// Where a scale ends: at the greatest value, or, of 20 or more, at the greatest that is no more than three times what 95
// of 100 reach. One slow step must not make all others look alike: what is above is drawn as clipped.
function scaleEnd(values) {
  const sorted = values.filter(value => value !== null).sort((a, b) => a - b);
  if (sorted.length < 20) return Math.max(0, ...sorted);
  const usual = 3 * sorted[Math.floor(0.95 * (sorted.length - 1))];
  return (usual > 0 ? sorted.filter(value => value <= usual) : sorted).pop();
}

// Where a scale of steps' lengths ends: at the greatest of steady training, where that is known (leftOut(index): it is no part of
// it); and at no more than three times the median, where those above are no more than a third. Where they are more, they
// are no outliers.
function lengthEnd(lengths, leftOut = () => false) {
  const all = lengths.filter(length => length !== null), steady = lengths.filter((length, index) => length !== null && !leftOut(index));
  const known = steady.length ? steady : all, median = lowerMedian(known), usual = known.filter(length => length <= 3 * median);
  return (known.length >= 6 && 3 * usual.length >= 2 * known.length ? usual : known).reduce((most, length) => Math.max(most, length), 0);
}

// Columns of stacked [value, colour] side by side, on one scale with its figures at the left; each column
// {label, parts, tip, attributes, leftOut}. `clip`: they are lengths of steps, and the scale ends where lengthEnd() says.
function columnChart(columns, {label, format = ns => duration(Math.round(ns)), height = 130, width = 560, widest = 90, clip = false}) {
  const letters = Math.max(...columns.map(column => column.label.length), 1);
  // At the right there is room for the last column's label.
  const side = 62, bottom = 18, top = 6, slot = (width - side - Math.max(6, letters * 3.4)) / Math.max(1, columns.length);
  const sums = columns.map(column => column.parts.reduce((sum, [value]) => sum + value, 0)), most = Math.max(clip ? lengthEnd(sums, at => columns[at].leftOut) : Math.max(...sums), 1e-9);
  const tall = value => (height - top) * value / most, thick = Math.max(1, Math.min(slot * 0.84, widest));
  const svg = element('svg:svg', {viewBox: `0 0 ${width} ${height + bottom}`, style: `max-width:${width}px`, role: 'img', 'aria-label': label});
  for (const part of [0, 0.5, 1]) {
    const y = height - tall(most * part);
    svg.append(element('svg:line', {class: 'grid', x1: side, x2: width, y1: y, y2: y}), element('svg:text', {x: side - 6, y: y + 4, 'text-anchor': 'end'}, part === 0 ? '0' : format(most * part)));
  }
  const every = Math.ceil((letters * 6.4 + 14) / slot);
  columns.forEach((column, at) => {
    const x = side + at * slot, group = element('svg:g', {...column.attributes, ...telling(() => column.tip)});
    group.append(element('svg:rect', {x, y: 0, width: slot, height, fill: 'transparent'}));
    let y = height;
    for (const [value, colour] of column.parts) {
      const high = Math.min(tall(value), y - top);
      y -= high;
      if (high > 0) group.append(element('svg:rect', {x, y, width: thick, height: high, fill: colour}));
    }
    if (sums[at] > most) group.append(element('svg:path', {class: 'clipped', d: `M${x},${top} l${thick / 2},${-top} l${thick / 2},${top} z`}));
    if (at % every === 0) group.append(element('svg:text', {x: x + thick / 2, y: height + 14, 'text-anchor': 'middle'}, column.label));
    svg.append(group);
  });
  return svg;
}

function mix(from, to, part) {
  const channel = (colour, at) => parseInt(colour.slice(1 + 2 * at, 3 + 2 * at), 16);
  return '#' + [0, 1, 2].map(at => Math.round(channel(from, at) + (channel(to, at) - channel(from, at)) * part).toString(16).padStart(2, '0')).join('');
}
function lowerMedian(values) {
  return values.length ? [...values].sort((a, b) => a - b)[(values.length - 1) >> 1] : null;
}

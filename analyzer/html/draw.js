'use strict';
// Numbers as the text report writes them, and the few shapes that the page is drawn with.

const kAbsent = '–';

function duration(ns) {
  if (ns === null || ns === undefined) return kAbsent;
  if (ns === 0) return '0';
  const size = Math.abs(ns), sign = ns < 0 ? '−' : '';
  if (size < 1000) return sign + Math.round(size) + ' ns';
  const units = [[1e3, 'µs'], [1e6, 'ms'], [1e9, 's']];
  for (let i = 0; i < units.length; ++i) {
    const value = size / units[i][0];
    const digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    const rounded = Number(value.toFixed(digits));
    if (rounded >= 1000 && i + 1 < units.length) continue;
    return sign + (rounded >= 1000 ? rounded.toLocaleString('en-US') : value.toFixed(digits)) + ' ' + units[i][1];
  }
}
function share(part, whole) {
  if (!whole) return kAbsent;
  const percent = 100 * part / whole;
  if (part > 0 && percent < 0.1) return '< 0.1 %';
  if (part < whole && percent > 99.9) return '> 99.9 %';
  return percent.toFixed(1) + ' %';
}
function bytes(count) {
  if (count === null) return kAbsent;
  if (count < 1000) return count + ' B';
  let unit = -1;
  for (; count >= 999.5 && unit < 4; ++unit) count /= 1000;
  return count.toFixed(count < 9.995 ? 2 : count < 99.95 ? 1 : 0) + ' ' + ['kB', 'MB', 'GB', 'TB', 'PB'][unit];
}
function bandwidth(value) {
  if (value === null) return kAbsent;
  return value >= 0.1 ? value.toFixed(value < 10 ? 2 : 1) + ' GB/s' : (1000 * value).toFixed(1) + ' MB/s';
}

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
// Text in which `names and commands` stand out.
function prose(text) {
  return text.split('`').map((part, index) => index % 2 ? element('code', {}, part) : part);
}
function fill(id, ...children) {
  document.getElementById(id).replaceChildren(...children);
}
function row(kind, ...cells) {
  return element('tr', {}, ...cells.map(cell => cell instanceof Node ? element(kind, {}, cell) : element(kind, cell.attributes, cell.text)));
}
const left = text => ({attributes: {}, text});
const number = text => ({attributes: {class: 'number'}, text});

// A tooltip for whatever is under the mouse.
const tip = document.getElementById('tip');
function tell(event, text) {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + 'px';
  tip.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - box.height - 8)) + 'px';
}
function hush() { tip.hidden = true; }
function telling(text) {
  return {onmousemove: event => tell(event, text()), onmouseleave: hush};
}

// A stacked bar of [value, colour, label] on a scale.
function stacked(parts, scale, height = 14) {
  const svg = element('svg:svg', {viewBox: `0 0 1000 ${height}`, height, preserveAspectRatio: 'none', role: 'img'});
  let at = 0;
  for (const [value, colour, label] of parts) {
    if (!(value > 0)) continue;
    const width = 1000 * value / scale;
    svg.append(element('svg:rect', {x: at, y: 0, width, height, fill: colour, ...telling(() => `${label}: ${duration(value)} (${share(value, scale)})`)}));
    at += width;
  }
  return svg;
}
function mix(from, to, part) {
  const channel = (colour, at) => parseInt(colour.slice(1 + 2 * at, 3 + 2 * at), 16);
  return '#' + [0, 1, 2].map(at => Math.round(channel(from, at) + (channel(to, at) - channel(from, at)) * part).toString(16).padStart(2, '0')).join('');
}
function median(values) {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b), middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

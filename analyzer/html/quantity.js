'use strict';
// Numbers as the text report writes them: analyzer/report/quantity.cpp in another language, digit for digit
// (quantities_test.cpp compares the two). Exact for integers below 2^53.

const kAbsent = '–';

// To nearest, as integers are divided there.
function divideRounded(value, divisor) {
  const rest = value % divisor;
  return (value - rest) / divisor + (rest >= divisor - Math.floor(divisor / 2) ? 1 : 0);
}
// Halves to the even digit, as C++ formats; toFixed takes the greater one.
function fixed(value, decimals) {
  const text = value.toFixed(decimals), halves = value * 2 ** (decimals + 1);
  if (!Number.isInteger(halves) || halves % 2 === 0 || Number(text[text.length - 1]) % 2 === 0) return text;
  return (value - 0.5 / 10 ** decimals).toFixed(decimals);
}
function count(value) {
  return value.toLocaleString('en-US');
}
// Three significant digits in the smallest unit in which the rounded number stays below 1000.
function threeDigits(value, units) {
  if (value < 1000) return value + ' ' + units[0];
  for (let unit = 1; unit < units.length; ++unit)
    for (const decimals of [2, 1, 0]) {
      const scale = 10 ** decimals, scaled = divideRounded(value, 1000 ** unit / scale);
      if (scaled < 1000) return (scaled / scale).toFixed(decimals) + ' ' + units[unit];
    }
  return count(divideRounded(value, 1000 ** (units.length - 1))) + ' ' + units[units.length - 1];
}

function duration(ns) {
  if (ns === null || ns === undefined) return kAbsent;
  if (ns === 0) return '0';
  return (ns < 0 ? '-' : '') + threeDigits(Math.abs(ns), ['ns', 'µs', 'ms', 's']);
}
function bytes(size) {
  if (size === null || size < 0) return kAbsent;
  return threeDigits(size, ['B', 'kB', 'MB', 'GB', 'TB']);
}
function share(part, whole = 1) {
  if (part === null || !whole) return kAbsent;
  const percent = part / whole * 100;
  if (percent > 0 && percent < 0.05) return '< 0.1 %';
  if (percent < 100 && percent >= 99.95) return '> 99.9 %';
  return fixed(percent, 1) + ' %';
}
function bandwidth(gigabytes) {
  if (gigabytes === null) return kAbsent;
  const mega = gigabytes < 0.1, value = gigabytes * (mega ? 1000 : 1), unit = mega ? ' MB/s' : ' GB/s';
  if (value === 0) return '0 GB/s';
  if (value > 0 && value < 0.005) return '< 0.01' + unit;
  return fixed(value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2) + unit;
}

// What the job is, its key figures, and where time goes: rank by step, and step by cause.

const causeParts = measures => data.causes.map((one, index) => [measures[kCauses + index], causeColour(index), one.label]);
// "compute 3.00 ms", one line each, of what there is.
function causeLines(values) {
  return data.causes.map((one, index) => [values[index], one.label]).filter(([ns]) => ns > 0).map(([ns, label]) => `${label} ${duration(Math.round(ns))}`).join('\n');
}

function drawHeader() {
  fill('path', data.path);
  fill('facts', data.facts.join(' · '));
  document.title = data.path + ' · Lockstep';
  fill('verdict', ...data.verdict.map(line => element('p', {}, ...prose(line))));
}

function drawAccount() {
  const {lines, spendings, all} = data.account;
  byId('account').hidden = lines.length === 0;
  if (lines.length === 0) return;
  const sum = all.reduce((total, ns) => total + ns, 0);
  fill('account', element('h2', {}, 'Where the wall time went'),
    ...(sum > 0 ? [stacked(accountParts(all), sum, 22, 'all ranks')] : []),
    ...(sum > 0 ? [swatches(...spendings.filter(([index]) => all[index] >= sum / 1000).map(([index, title, colour]) => [colour, `${title} ${share(all[index], sum)}`]))] : []),
    ...lines.map(line => element('p', {}, ...prose(line))), ...accountOfRanks());
}
const accountParts = spent => data.account.spendings.map(([index, title, colour]) => [spent[index], colour, title]);
// A bar for each of a few ranks; of many the spread over them, and bars of those that have most or least of something.
function accountOfRanks() {
  const {ranks, spendings, spread} = data.account;
  if (ranks.length < 2) return [];
  const bar = spent => stacked(accountParts(spent), spent.reduce((total, ns) => total + ns, 0), 14, 'its time');
  if (ranks.length <= 16) return [table([['rank', 'number'], ['', 'bar']], ranks.map(([rank, spent]) => [String(rank), bar(spent)]))];
  const looks = new Map(spendings.map(([index, title, colour]) => [index, {title, colour}])), known = new Map();
  const extreme = (rank, words) => known.set(rank, [...(known.get(rank) || []), words]);
  for (const [index, least, leastRank, median, most, mostRank] of spread) {
    if (most > median) extreme(mostRank, `most ${looks.get(index).title}`);
    if (least < median) extreme(leastRank, `least ${looks.get(index).title}`);
  }
  const of = (ns, rank, differs) => duration(ns) + (differs ? ` (rank ${rank})` : '');
  const rows = spread.map(([index, least, leastRank, median, most, mostRank]) => [
    element('span', {}, element('i', {class: 'swatch', style: 'background:' + looks.get(index).colour}), looks.get(index).title),
    of(least, leastRank, least < median), duration(median), of(most, mostRank, most > median)]);
  return [element('h4', {}, `Over the ${count(ranks.length)} ranks`), table([['', 'wide'], ['least', 'number'], ['median', 'number'], ['most', 'number']], rows),
    ...(known.size ? [table([['rank', 'number'], ['', 'bar'], ['', 'wide quiet']], ranks.filter(([rank]) => known.has(rank)).map(([rank, spent]) => [String(rank), bar(spent), known.get(rank).join(', ')]))] : [])];
}

function drawTiles() {
  byId('figures').hidden = !hasFigures;
  if (!hasFigures) return;
  const sum = new Array(kMeasures).fill(0);
  let unknown = 0;
  for (const rank of selectedRanks()) {
    const measures = measuresOf(rank);
    if (measures === null) ++unknown;
    else addMeasures(sum, measures.map((value, index) => index >= kWaited ? value || 0 : value));
  }
  const waits = selectedRanks().some(rank => (measuresOf(rank) || [])[kWaited] !== null && measuresOf(rank) !== null);
  const lengths = [];
  for (let step = chosen.from; step <= chosen.to && data.steps.length; ++step)
    for (const rank of selectedRanks()) if (cells[step][rank]) lengths.push(cells[step][rank][kWindow]);
  const tile = (value, label) => element('div', {class: 'tile'}, element('b', {}, value), element('span', {}, label));
  fill('tiles',
    lengths.length ? tile(duration(lowerMedian(lengths)), 'a step (median of ranks and steps)') : tile(duration(sum[kWindow]), 'recorded, summed over the ranks'),
    tile(share(sum[kCauses], sum[kWindow]), 'of the time computes'),
    tile(share(sum[kExposed], sum[kWindow]), 'is exposed communication'),
    tile(waits && !data.waits_blurred ? share(sum[kWaited], sum[kCommunication]) : kAbsent, 'of communication is waiting'),
    tile(share(sum[kOverlap], sum[kCommunication]), 'of communication is hidden by compute'),
    ...(unknown ? [tile(String(unknown), unknown === 1 ? 'rank of which not all is known' : 'ranks of which not all is known')] : []));
  follows('figures', 'steps', 'ranks');
}

// What is too little to be drawn needs no explanation.
function drawLegend() {
  const drawn = (m, index) => m && m[kCauses + index] > 0 && m[kCauses + index] >= m[kWindow] / 128;
  const seen = index => data.ranks.some(rank => drawn(rank.all, index)) || data.cells.some(cell => drawn(cell[2], index));
  const entries = data.causes.map((one, index) => [causeColour(index), one.label, seen(index)]).filter(entry => entry[2]);
  byId('legend').replaceWith(Object.assign(swatches(...entries), {id: 'legend'}));
}

// What the heat map can show: name, value of a cell, full colour.
function shownMeasure() {
  const {measure} = chosen;
  if (measure === 'waited') return {label: 'waiting, of the step', value: m => m[kWaited], colour: colourOf('barrier_wait')};
  if (measure === 'window') return {label: 'length of the step', value: m => m[kWindow], colour: style('--strong'), absolute: true};
  if (measure === 'exposed') return {label: 'exposed communication, of the step', value: m => m[kExposed], colour: style('--strong')};
  const index = Number(measure);
  return {label: data.causes[index].label + ', of the step', value: m => m[kCauses + index], colour: causeColour(index)};
}

// With --all-steps: warm-up, evaluation and the like are among the steps.
const leftOut = new Set(data.left_out);
let heat = null;
function drawHeat() {
  byId('heat').hidden = data.steps.length === 0 || !hasFigures;
  if (byId('heat').hidden) return;
  follows('heat', 'steps', 'ranks');
  const ranks = selectedRanks(), shown = shownMeasure(), canvas = byId('heat-canvas');
  // At the right there is room for half of the last label.
  const margin = {left: 46, bottom: 20, right: 4 + 3.5 * String(data.steps[data.steps.length - 1]).length}, plot = canvas.parentElement.clientWidth || 700;
  // All steps fit: where they are more than the columns that can be seen, a column is several of them.
  const room = Math.max(plot - margin.left - margin.right, 3), together = Math.ceil(3 * data.steps.length / room), columns = Math.ceil(data.steps.length / together);
  const width = Math.min(90, room / columns);
  // Few ranks have taller cells: the steps' chart beside them has 190 px.
  const count = Math.max(1, ranks.length), height = Math.max(3, Math.min(64, Math.max(24, 190 / count), 400 / count));
  const size = {x: margin.left + width * columns + margin.right, y: height * ranks.length + margin.bottom};
  const scale = devicePixelRatio || 1;
  canvas.width = size.x * scale; canvas.height = size.y * scale;
  canvas.style.width = size.x + 'px'; canvas.style.height = size.y + 'px';
  const draw = canvas.getContext('2d');
  draw.scale(scale, scale);
  // null: not known.
  const value = m => shown.absolute || shown.value(m) === null ? shown.value(m) : m[kWindow] ? shown.value(m) / m[kWindow] : 0;
  // Of a column's steps the one that has most: its step, and its measures. null: none is known.
  const worst = Array.from({length: columns}, (_, column) => data.ranks.map((_, rank) => {
    const have = cells.slice(column * together, (column + 1) * together).map((row, at) => [column * together + at, row[rank]]).filter(([, m]) => m !== undefined);
    const known = have.filter(([, m]) => m !== null && value(m) !== null);
    return have.length === 0 ? undefined : known.length === 0 ? null : known.reduce((most, one) => value(one[1]) > value(most[1]) ? one : most);
  }));
  const drawn = worst.flatMap(row => ranks.map(rank => row[rank])).filter(one => one), values = drawn.map(one => value(one[1]));
  const known = values.length > 0, most = shown.absolute ? lengthEnd(values, at => leftOut.has(drawn[at][0])) : scaleEnd(values);
  const least = shown.absolute && known ? values.reduce((a, b) => Math.min(a, b)) : 0;
  let clipped = 0;
  const empty = style('--empty'), gap = Math.min(width, height) > 6 ? 1 : 0;
  ranks.forEach((rank, at) => {
    worst.forEach((row, column) => {
      const one = row[rank], x = margin.left + column * width, y = at * height, first = column * together;
      draw.globalAlpha = first + together > chosen.from && first <= chosen.to ? 1 : 0.3;
      if (one === undefined) return;
      if (one === null) { draw.strokeStyle = '#888'; draw.strokeRect(x + 1, y + 1, width - 2, height - 2); return; }
      const v = value(one[1]);
      draw.fillStyle = mix(empty, shown.colour, most > least ? Math.min(1, (v - least) / (most - least)) : 0);
      draw.fillRect(x, y, width - gap, height - gap);
      if (v <= most) return;
      ++clipped;
      draw.strokeStyle = empty;
      draw.beginPath(); draw.moveTo(x, y + height - gap); draw.lineTo(x + width - gap, y); draw.stroke();
    });
  });
  draw.globalAlpha = 1;
  draw.fillStyle = style('--quiet');
  draw.font = '11px system-ui, sans-serif';
  draw.textAlign = 'right';
  const everyRank = Math.ceil(13 / height);
  ranks.forEach((rank, at) => { if (at % everyRank === 0) draw.fillText(String(data.ranks[rank].rank), margin.left - 6, at * height + Math.max(height, 13) / 2 + 4); });
  draw.textAlign = 'center';
  const everyColumn = Math.ceil(34 / width);
  for (let column = 0; column < columns; column += everyColumn)
    draw.fillText(String(data.steps[column * together]), margin.left + (column + 0.5) * width, size.y - 6);
  const text = v => shown.absolute ? duration(v) : share(v);
  fill('heat-scale', element('span', {}, known ? text(least) : kAbsent), element('i', {style: `background:linear-gradient(90deg, ${empty}, ${shown.colour})`}),
    element('span', {}, known ? text(most) : kAbsent), element('span', {}, shown.label),
    element('span', {class: 'clipped'}, clipped ? `${clipped === 1 ? '1 cell lies' : clipped + ' cells lie'} above the scale (struck through)` : ''),
    element('span', {}, together > 1 ? `a cell is ${together} steps, and shows the one that has most` : ''));
  heat = {margin, width, height, ranks, together, worst};
}
function heatCell(event) {
  if (!heat) return null;
  const box = event.target.getBoundingClientRect();
  const column = Math.floor((event.clientX - box.left - heat.margin.left) / heat.width);
  const rank = heat.ranks[Math.floor((event.clientY - box.top) / heat.height)];
  if (column < 0 || column >= heat.worst.length || rank === undefined) return null;
  const first = column * heat.together;
  return {rank, first, last: Math.min(first + heat.together, data.steps.length) - 1, worst: heat.worst[column][rank]};
}

// As the text report: a step lasts as long as its slowest rank; the bar is the mean rank.
function drawSteps() {
  byId('steps').hidden = data.steps.length === 0 || !hasFigures;
  if (byId('steps').hidden) return;
  follows('steps', 'steps', 'ranks');
  const columns = cells.map((row, step) => {
    const known = selectedRanks().filter(rank => row[rank]).map(rank => [rank, row[rank]]);
    const means = data.causes.map((_, index) => known.reduce((sum, [, m]) => sum + m[kCauses + index], 0) / Math.max(1, known.length));
    const longest = known.reduce((most, one) => most === null || one[1][kWindow] > most[1][kWindow] ? one : most, null);
    const sum = index => known.reduce((total, [, m]) => total + (m[index] || 0), 0);
    return {
      label: String(data.steps[step]), leftOut: leftOut.has(step), parts: means.map((ns, index) => [ns, causeColour(index)]),
      tip: `step ${data.steps[step]}` + (longest ? `: ${duration(longest[1][kWindow])}, longest on rank ${data.ranks[longest[0]].rank}\ncomputes ${share(sum(kCauses), sum(kWindow))}, waits ${share(sum(kExposedWait), sum(kWindow))}\n` + causeLines(means) : ''),
      attributes: {class: 'press', opacity: step >= chosen.from && step <= chosen.to ? 1 : 0.3, ...pressing(() => select(step, step))},
    };
  });
  const chart = columnChart(columns, {label: 'Steps by cause', height: 190, width: 660, clip: true}), clipped = chart.querySelectorAll('.clipped').length;
  fill('step-bars', chart, clipped ? quiet(`${clipped === 1 ? '1 step is' : clipped + ' steps are'} longer than the scale (with a triangle on top)`) : null);
}

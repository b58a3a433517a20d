// Findings, each with what it rests on drawn beside it. They are of the whole job, whatever is selected.

// How one operation went: each rank's arrival, waiting and transfer; `late` is marked. Ranks that are not
// selected are dimmed, not left out: the words beside may be about them.
function arrivalChart(one, {late = null, most = 48, width = 560} = {}) {
  let rows = one.arrivals;
  if (rows.length > most) {
    const longest = [...rows].sort((a, b) => b[2] - a[2]).slice(0, most - 1).map(([rank]) => rank);
    rows = rows.filter(([rank]) => rank === late || longest.includes(rank));
  }
  const height = Math.max(8, Math.min(20, 380 / rows.length)), side = 46, plot = width - side - 6;
  const end = Math.max(1, ...rows.map(([, at, wait, transfer]) => at + wait + transfer)), bottom = height * rows.length;
  const svg = element('svg:svg', {viewBox: `0 0 ${width} ${bottom + 22}`, style: `max-width:${width}px`, role: 'img', 'aria-label': 'Arrivals of each rank'});
  const x = ns => side + plot * ns / end, lateAt = rows.findIndex(([rank]) => rank === late);
  // Its number has room: those of its neighbours make way.
  const numbered = position => position === lateAt || (position % Math.ceil(12 / height) === 0 && (lateAt < 0 || Math.abs(position - lateAt) * height >= 12));
  let marked = '';  // above all others
  rows.forEach(([rank, at, wait, transfer], position) => {
    const y = position * height, tall = height * 0.72, isLate = rank === late;
    const group = element('svg:g', {opacity: selected(rank) || isLate ? 1 : 0.35, ...telling(() => `rank ${rank}\narrives ${duration(at)} after the first\nwaits ${duration(wait)}\ntransfers ${duration(transfer)}`)});
    group.append(element('svg:rect', {x: side, y, width: plot, height: tall, fill: 'transparent'}),
      element('svg:rect', {x: x(at), y, width: plot * wait / end, height: tall, fill: colourOf('barrier_wait')}),
      element('svg:rect', {x: x(at + wait), y, width: Math.max(1, plot * transfer / end), height: tall, fill: colourOf('transfer')}));
    if (isLate) {
      group.append(element('svg:line', {class: 'late', x1: x(at), x2: x(at), y1: 0, y2: bottom}));
      const words = `rank ${rank} arrives ${duration(at)} after the first`;
      group.append(at > end / 2 ? element('svg:text', {class: 'mark-late', x: x(at) - 6, y: y + tall / 2 + 4, 'text-anchor': 'end'}, words) : element('svg:text', {class: 'mark-late', x: x(at + wait + transfer) + 6, y: y + tall / 2 + 4}, words));
    }
    if (isLate) marked = group;
    else svg.append(group);
    if (numbered(position)) svg.append(element('svg:text', {class: isLate ? 'mark-late' : null, x: side - 6, y: y + tall / 2 + 4, 'text-anchor': 'end'}, String(rank)));
  });
  svg.append(marked);
  for (const part of [0, 0.5, 1]) svg.append(element('svg:text', {x: side + plot * part, y: bottom + 15, 'text-anchor': part === 1 ? 'end' : part === 0 ? 'start' : 'middle'}, duration(Math.round(end * part))));
  return svg;
}
const arrivalLegend = () => swatches([colourOf('barrier_wait'), 'waits'], [colourOf('transfer'), 'transfers']);
function operationTitle(one) {
  return `#${one.id} ${one.operation}${one.name ? ' ' + one.name : ''}${one.step === null ? '' : ` of step ${one.step}`}, ${groupLabel(one.group)}`;
}

function showCollective(index) {
  const one = collectives[index];
  const inside = one.step === null ? everyStep() : one.step >= data.steps[chosen.from] && one.step <= data.steps[chosen.to];
  if (!inside) Object.assign(chosen, {from: 0, to: data.steps.length - 1});
  if (chosen.group >= 0 && chosen.group !== one.group) chosen.group = -1;
  chosen.collective = index;
  draw();
  byId('collectives').scrollIntoView({behavior: 'smooth'});
}
function drawArrivalEvidence({collective, rank}) {
  const one = collectives[collective];
  return [element('h4', {}, 'Arrivals at ', element('a', {class: 'press', role: 'link', ...pressing(() => showCollective(collective))}, operationTitle(one))),
    arrivalLegend(), element('div', {class: 'press', onclick: () => showCollective(collective)}, arrivalChart(one, {late: rank, most: 16})),
    quiet('The operation in which most was waited for it. Click to see it among the others.')];
}
function drawStageEvidence({pipeline, rank}) {
  const {group, detail} = data.pipelines[pipeline], median = lowerMedian(detail.map(([, , , compute]) => compute));
  return [element('h4', {}, `Compute of each stage of ${group}`),
    columnChart(detail.map(([stage, of, , compute]) => ({
      label: `${stage}`, parts: [[compute, of === rank ? colourOf('compute') : style('--weak')]], tip: `stage ${stage} (rank ${of}) computes for ${duration(compute)}`})), {label: 'Compute of each stage', height: 110}),
    quiet(`Stage by stage; the median stage computes for ${duration(median)}. Coloured: rank ${rank}'s stage.`)];
}
const bucketParts = ([, , , , , wait, transfer, , exposedTransfer, exposedWait]) => exposedTransfer === null
  ? [[transfer + (wait || 0), style('--strong'), 'transfer and waiting']]
  : [[exposedTransfer, colourOf('transfer'), 'exposed transfer'], [exposedWait || 0, colourOf('barrier_wait'), 'exposed wait'], [Math.max(0, transfer + (wait || 0) - exposedTransfer - (exposedWait || 0)), style('--hidden'), 'hidden']];
const bucketLegend = () => swatches([colourOf('transfer'), 'exposed transfer'], [colourOf('barrier_wait'), 'exposed wait'], [style('--hidden'), 'hidden by compute']);
function drawBucketEvidence({operation, group}) {
  const rows = data.buckets.filter(one => one[0] === group && one[1] === operation);
  return [element('h4', {}, `Each ${operation} of a step, in order`), bucketLegend(),
    columnChart(rows.map(one => ({label: one[2], parts: bucketParts(one), tip: `${operation} ${one[2]}, ${bytes(one[3])}\n` + bucketParts(one).map(([ns, , label]) => `${label} ${duration(ns)}`).join('\n')})), {label: `${operation} by bucket`, height: 110}),
    quiet(`Mean of one operation on one rank of ${groupLabel(group)}.`)];
}
// How long the rank that computes longest and the one that computes shortest do, in each step.
function drawBatchEvidence() {
  const rows = cells.map((row, step) => {
    const known = data.ranks.map((rank, index) => [row[index] ? row[index][kCauses + causeIndex('compute')] : null, rank.rank]).filter(([ns]) => ns !== null).sort((a, b) => a[0] - b[0]);
    return known.length ? {step: data.steps[step], least: known[0], most: known[known.length - 1]} : null;
  }).filter(one => one);
  return [element('h4', {}, 'Least and most compute of a rank, step by step'),
    swatches([style('--weak'), 'all ranks have'], [colourOf('compute'), 'the rank with most has more']),
    columnChart(rows.map(({step, least, most}) => ({label: String(step), parts: [[least[0], style('--weak')], [most[0] - least[0], colourOf('compute')]],
      tip: `step ${step}\nrank ${most[1]} computes for ${duration(most[0])}\nrank ${least[1]} for ${duration(least[0])}`})), {label: 'Compute of the ranks, step by step', height: 110}),
    quiet('Even batches would leave nothing to see above the lower part.')];
}
function drawCauseEvidence({cause}) {
  const index = causeIndex(cause), label = data.causes[index].label;
  const ranks = data.ranks.filter(rank => rank.all && rank.all[kWindow] > 0);
  if (ranks.length === 0) return [];
  return [element('h4', {}, `${label[0].toUpperCase()}${label.slice(1)} of each rank, as a share of its time`),
    columnChart(ranks.map(rank => ({label: String(rank.rank), parts: [[rank.all[kCauses + index] / rank.all[kWindow], causeColour(index)]],
      tip: `rank ${rank.rank}: ${label} ${duration(rank.all[kCauses + index])}, ${share(rank.all[kCauses + index], rank.all[kWindow])} of its time`})), {label, format: share, height: 100, widest: 46})];
}
// Where the ranks of a job that hung stand: a row for each thing that they are in, a column for each rank.
function drawStandings(standings) {
  const ranks = data.ranks.map(one => one.rank);
  const title = element('h4', {}, 'Which rank stands where');
  if (ranks.length > 64)
    return [title, table([['ranks', 'wide'], ['', ''], ['', 'wide']], standings.map(([who, waits, where, known, elsewhere]) => [ranges(who), waits ? 'in' : elsewhere ? 'elsewhere' : known ? '' : 'not known whether it came', element('span', {}, ...prose(where))]))];
  // Words are not drawn but set: they are whole at any length, and as large as all others.
  const width = 620, column = width / ranks.length, thick = Math.min(column * 0.8, 26), every = Math.ceil(30 / column);
  const strip = (height, draw) => {
    const svg = element('svg:svg', {viewBox: `0 0 ${width} ${height}`, style: `max-width:${width}px`, role: 'img', 'aria-label': 'Which rank stands where'});
    ranks.forEach((rank, at) => draw(svg, rank, at * column, at));
    return svg;
  };
  const numbers = strip(15, (svg, rank, x, at) => { if (at % every === 0) svg.append(element('svg:text', {x: x + thick / 2, y: 12, 'text-anchor': 'middle'}, String(rank))); });
  const rows = standings.flatMap(([who, waits, where, known, elsewhere]) => [
    element('p', {class: 'standing quiet'}, ...prose(waits ? `in ${where}` : known || elsewhere ? where : `not known whether it came: ${where}`)),
    strip(12, (svg, rank, x) => svg.append(element('svg:rect', {x, y: 0, width: thick, height: 11, rx: 2,
      fill: !who.includes(rank) ? style('--empty') : waits ? colourOf('barrier_wait') : elsewhere ? style('--weak') : known ? style('--strong') : style('--quiet')})))]);
  return [title, swatches([colourOf('barrier_wait'), 'waits in it'], [style('--strong'), 'is not where the others wait for it'],
    ...(standings.some(([, , , , elsewhere]) => elsewhere) ? [[style('--weak'), 'elsewhere']] : []),
    ...(standings.some(([, , , known, elsewhere]) => !known && !elsewhere) ? [[style('--quiet'), 'not known whether it came']] : [])), numbers, ...rows];
}
// Of ranks that this finding does not place: which other one does.
function standingsElsewhere(index) {
  const placed = new Set(data.findings[index].standings.flatMap(([who]) => who));
  return data.findings.flatMap((other, at) => {
    const who = [...new Set(other.standings.flatMap(([who]) => who))].filter(rank => !placed.has(rank));
    who.forEach(rank => placed.add(rank));
    return who.length ? [[who, false, `finding ${at + 1} says where`, true, true]] : [];
  });
}
const evidenceDrawings = {arrival: drawArrivalEvidence, stages: drawStageEvidence, buckets: drawBucketEvidence, batches: drawBatchEvidence, cause: drawCauseEvidence};

function drawFindings() {
  if (data.findings.length === 0) {
    fill('finding-list', quiet('Nothing that costs more than the thresholds of ', element('code', {}, 'lockstep explain'), '.'));
    return;
  }
  follows('findings');
  fill('finding-list', ...data.findings.map((finding, index) => {
    const drawing = finding.drawn ? evidenceDrawings[finding.drawn.kind](finding.drawn) : finding.standings.length ? drawStandings([...finding.standings, ...standingsElsewhere(index)]) : [];
    return element('article', {class: 'finding' + (drawing.length ? '' : ' plain')},
      element('div', {},
        element('h3', {class: finding.severity}, element('span', {class: 'quiet'}, `${index + 1}. `), ...prose(finding.title)),
        element('p', {class: 'cost'}, finding.lost > 0 ? element('b', {class: finding.severity}, `${duration(finding.lost)} lost (${share(finding.share)})${finding.severity === 'note' ? ', a note' : ''}`) : element('b', {class: finding.severity}, finding.severity), ' ', element('code', {}, finding.code)),
        element('ul', {}, ...finding.evidence.map(line => element('li', {}, ...prose(line)))),
        finding.remedy ? element('p', {class: 'remedy'}, '→ ', ...prose(finding.remedy)) : null),
      drawing.length ? element('div', {class: 'drawing'}, ...drawing) : null);
  }));
}

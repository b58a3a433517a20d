// Who came when to one operation.

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
// Of a message, or where not all ranks have a record, it says whose it is.
function operationTitle(one) {
  const ranks = one.arrivals.map(([rank]) => rank).sort((a, b) => a - b);
  const whose = ranks.length < data.groups[one.group].ranks.length ? `rank${ranks.length === 1 ? '' : 's'} ${ranges(ranks)} of ` : '';
  return `#${one.id} ${one.operation}${one.name ? ' ' + one.name : ''}${one.step === null ? '' : ` of step ${one.step}`}, ${whose}${groupLabel(one.group)}`;
}


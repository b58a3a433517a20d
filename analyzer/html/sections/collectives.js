// The collectives that cost most waiting, and who came when to the one that is chosen.

function lastArriver(one) {
  if (one.last !== null) return `rank ${one.last} by ${duration(one.margin)}`;
  if (one.unfinished) return 'not all came';
  return one.wait === null ? kAbsent : one.records < 2 ? 'alone' : one.wait === 0 ? 'nobody waited' : 'within clock error';
}
function drawCollectives() {
  byId('collectives').hidden = collectives.length === 0;
  if (collectives.length === 0) return;
  follows('collectives', 'steps', 'ranks', 'group');
  const inside = step => everyStep() || (step !== null && step >= data.steps[chosen.from] && step <= data.steps[chosen.to]);
  const holds = group => chosen.ranks === null || data.groups[group].ranks.some(rank => chosen.ranks.has(rank)) || data.groups[group].ranks.length === 0;
  const list = collectives.filter(one => inside(one.step) && (chosen.group < 0 || one.group === chosen.group) && holds(one.group));
  const shown = list.slice(0, 12), picked = collectives[chosen.collective];
  // One that a finding is about is shown whatever its place.
  if (list.includes(picked) && !shown.includes(picked)) shown.push(picked);
  if (!shown.includes(picked)) chosen.collective = collectives.indexOf(shown[0]);
  const columns = [['', 'number quiet'], ['operation'], ['group', 'quiet'], ['waited', 'number'], ['last arriver'], ['spread', 'number'], ['transfer', 'number'], ['size', 'number'], ['wire busbw', 'number'], ['step', 'number']];
  const rows = shown.map(one => {
    const index = collectives.indexOf(one), members = data.groups[one.group].ranks.length || one.records;
    return {
      attributes: {class: 'press' + (index === chosen.collective ? ' chosen' : ''), ...pressing(() => { chosen.collective = index; drawCollectives(); })},
      cells: [`#${one.id}`, one.operation + (one.name ? ' ' + one.name : ''), (data.groups[one.group].name ? `"${data.groups[one.group].name}" ` : '') + (one.participants !== null ? `${one.records} of ${one.participants || 'more'} ranks` : members === data.world_size ? `all ${members}` : `${members} ranks`),
        duration(one.wait), lastArriver(one), duration(one.spread), duration(one.transfer), bytes(one.size), bandwidth(one.busbw), one.step === null ? kAbsent : String(one.step)],
    };
  });
  const more = list.length - shown.length;
  const notes = [more > 0 ? `${count(more)} more, each with less waiting.` : '', data.collectives_left_out ? `${count(data.collectives_left_out)} with the least waiting are not in this page.` : ''].filter(Boolean);
  fill('collective-list', shown.length ? table(columns, rows) : quiet('No operation is selected.'), notes.length ? quiet(notes.join(' ')) : null);
  drawArrivals(collectives[chosen.collective]);
}
function drawArrivals(one) {
  if (!one) { fill('arrivals'); return; }
  if (!one.arrivals) { fill('arrivals', quiet('Arrivals are kept of the operations with most waiting only.')); return; }
  const least = one.wait === null ? '' : ' The one that waits least is the late one.';
  fill('arrivals', element('h4', {}, operationTitle(one)), arrivalLegend(), arrivalChart(one, {late: one.last, width: 400}), quiet(`When each rank arrived, waited and transferred.${least}`));
}
sections.push(drawCollectives);

// The arrivals of the ranks at the operation in which the accused one came last.

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
pictures.arrival = drawArrivalEvidence;

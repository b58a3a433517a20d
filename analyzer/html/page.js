// Draws everything, and listens to the reader.

function draw() {
  const steps = data.steps.length === 0 ? '' : everyStep() ? (data.steady_only ? 'all steady steps' : 'all steps') : chosen.from === chosen.to ? `step ${data.steps[chosen.from]}` : `steps ${data.steps[chosen.from]} to ${data.steps[chosen.to]}`;
  const ranks = selectedRanks().length;
  fill('selection', [steps, ranks === data.ranks.length ? 'all ranks' : `${ranks} of ${data.ranks.length} ranks`, chosen.group < 0 ? '' : 'group ' + groupLabel(chosen.group)].filter(Boolean).join(', '));
  byId('from').value = chosen.from;
  byId('to').value = chosen.to;
  byId('group').value = chosen.group;
  for (const section of [drawAccount, drawFindings, drawTiles, drawLegend, drawRanks, drawHeat, drawSteps, ...sections]) section();
  writeAddress();
}
function select(from, to) {
  const again = chosen.from === from && chosen.to === to && !everyStep();
  chosen.from = again ? 0 : Math.min(from, to);
  chosen.to = again ? data.steps.length - 1 : Math.max(from, to);
  draw();
}

function showRanks() {
  byId('ranks').value = chosen.ranks === null ? '' : ranges([...chosen.ranks].sort((a, b) => a - b)).replaceAll('–', '-');
  byId('ranks').classList.remove('wrong');
}
function listen() {
  const from = byId('from'), to = byId('to'), ranks = byId('ranks'), group = byId('group'), measures = byId('measure');
  // What there is nothing to choose from needs no choice.
  byId('filter').hidden = !hasFigures;
  byId('step-choice').hidden = data.steps.length < 2;
  byId('group-choice').hidden = data.groups.length < 2;
  for (const list of [from, to]) {
    data.steps.forEach((step, index) => list.append(element('option', {value: index}, String(step))));
    list.onchange = () => select(Number(from.value), Number(to.value));
  }
  group.append(element('option', {value: -1}, 'all'));
  data.groups.forEach((_, index) => group.append(element('option', {value: index}, groupLabel(index))));
  group.onchange = () => { chosen.group = Number(group.value); draw(); };
  measures.append(element('option', {value: 'waited'}, 'waiting'), element('option', {value: 'window'}, 'length of the step'), element('option', {value: 'exposed'}, 'exposed communication'),
    ...data.causes.map((one, index) => element('option', {value: index}, one.label)));
  measures.onchange = () => { chosen.measure = measures.value; drawHeat(); };
  ranks.oninput = () => {
    const list = parseRanks(ranks.value);
    ranks.classList.toggle('wrong', list === undefined);
    if (list !== undefined) { chosen.ranks = list; draw(); }
  };
  byId('filter').onsubmit = event => event.preventDefault();
  byId('everything').onclick = () => {
    Object.assign(chosen, {from: 0, to: data.steps.length - 1, ranks: null, group: -1});
    showRanks();
    draw();
  };
  const canvas = byId('heat-canvas');
  canvas.onmousemove = event => {
    const cell = heatCell(event);
    if (!cell || !cell.worst) { hush(); return; }
    const [step, m] = cell.worst, among = cell.first === cell.last ? '' : `, of steps ${data.steps[cell.first]} to ${data.steps[cell.last]}`;
    tell(event, `rank ${data.ranks[cell.rank].rank}, step ${data.steps[step]}${among}: ${duration(m[kWindow])}\n` + causeLines(m.slice(kCauses, kCommunication)));
  };
  canvas.onmouseleave = hush;
  canvas.onclick = event => { const cell = heatCell(event); if (cell) select(cell.first, cell.last); };
  byId('theme').onclick = () => { root.dataset.theme = root.dataset.theme === 'dark' ? 'light' : 'dark'; draw(); };
  addEventListener('resize', drawHeat);
  addEventListener('hashchange', () => { readAddress(); showRanks(); draw(); });
}

readAddress();
drawHeader();
listen();
showRanks();
draw();
root.dataset.drawn = 'true';

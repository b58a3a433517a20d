// The tables, in the order and with the figures of the text report.

function drawRanks() {
  byId('rank-section').hidden = !hasFigures;
  if (!hasFigures) return;
  follows('rank-section', 'steps', 'ranks');
  let ranks = selectedRanks();
  const blame = rank => data.ranks[rank].blame || 0, all = ranks.length;
  if (!chosen.allRanks && all > 24) ranks = [...ranks].sort((a, b) => blame(b) - blame(a) || a - b).slice(0, 16).sort((a, b) => a - b);
  const known = ranks.map(rank => [rank, measuresOf(rank)]);
  const scale = Math.max(1, ...known.map(([, m]) => m ? m[kWindow] : 0));
  const hosts = data.ranks.some(one => one.host !== data.ranks[0].host), waitsKnown = data.ranks.some(one => one.all && one.all[kWaited] !== null);
  // Blame is of the whole recording: beside a few steps it would be another job's.
  const blamed = everyStep(), scheduled = data.ranks.some(one => one.scheduled > 0);
  const columns = [['rank', 'number'], ['window', 'number'], ['by cause', 'bar'], ['hidden', 'number'], ['exposed', 'number'], ['waits', 'number'], ['(exposed)', 'number quiet'],
    ...(blamed ? [['waited for', 'number']] : []), ...(blamed && scheduled ? [['(by schedule)', 'number quiet']] : []), ...(hosts ? [['host', 'quiet']] : [])];
  const rows = known.map(([rank, m]) => {
    const one = data.ranks[rank], waited = (one.blame || 0) + (one.scheduled || 0), waits = m && m[kWaited] !== null;
    const cells = m ? [duration(m[kWindow]), stacked(causeParts(m), scale), m[kCommunication] ? share(m[kOverlap], m[kCommunication]) : kAbsent, duration(m[kExposed])]
      : [kAbsent, one.damaged ? 'not known: the trace is damaged' : 'no device activity', kAbsent, kAbsent];
    const waitedFor = !waitsKnown || (!waited && !m) ? kAbsent : duration(waited);
    return {
      attributes: telling(() => `rank ${one.rank} on ${one.host || 'a host without a name'}, ${one.device}\nclock: ${one.clock[2]}, moved by ${duration(one.clock[0])} ± ${duration(one.clock[1])}` + (one.cause ? `\n${one.marked ? 'late because' : 'where it came last'}: ${one.cause}` : '')),
      cells: [one.marked ? element('b', {}, String(one.rank)) : String(one.rank), ...cells, waits ? duration(m[kWaited]) : kAbsent, waits ? `(${duration(m[kExposedWait])})` : '',
        ...(blamed ? [one.marked ? element('b', {class: 'high'}, waitedFor) : waitedFor] : []),
        ...(blamed && scheduled ? [waitedFor === kAbsent ? '' : `(${duration(one.scheduled || 0)})`] : []), ...(hosts ? [one.host] : [])],
    };
  });
  const toggle = all > ranks.length || chosen.allRanks ? element('button', {type: 'button', onclick: () => { chosen.allRanks = !chosen.allRanks; drawRanks(); }}, chosen.allRanks ? 'Only those that are waited for most' : `All ${all} ranks`) : null;
  fill('rank-bars', table(columns, rows), toggle, ...(blamed ? [] : [quiet('Whom others wait for is known of the whole recording alone: it is left out beside a few steps.')]),
    ...(everyStep() && chosen.ranks === null ? data.efficiency.map(line => quiet(line)) : []));
}

function drawPipelines() {
  byId('pipelines').hidden = data.pipelines.length === 0;
  follows('pipelines');
  fill('pipeline-list', swatches([colourOf('compute'), 'compute'], [colourOf('transfer'), 'exposed transfer'], [colourOf('pipeline_bubble'), 'bubble']), ...data.pipelines.map(one => {
    const bubble = one.ratio === null ? 'bubble not known' : `bubble ${share(one.ratio)} of the region` + (one.ideal === null ? '' : `, ideal ${share(one.ideal)}`);
    const columns = [['stage', 'number'], ['rank', 'number'], ['layers', 'quiet'], ['', 'bar'], ['compute', 'number'], ['transfer', 'number'], ['bubble', 'number'], ['warm-up', 'number'], ['steady', 'number'], ['cool-down', 'number'], ['of the region', 'number']];
    return element('div', {}, element('p', {}, element('b', {}, `"${one.group}"`), `: ${one.schedule}: ${bubble}`), table(columns, one.detail.map(([stage, rank, layers, compute, transfer, idle, warmUp, steady, coolDown]) => [
      String(stage), String(rank), ranges(layers), stacked([[compute, colourOf('compute'), 'compute'], [transfer, colourOf('transfer'), 'exposed transfer'], [idle, colourOf('pipeline_bubble'), 'bubble']], Math.max(1, ...one.detail.map(row => row[3] + row[4] + row[5]))),
      duration(compute), duration(transfer), duration(idle), duration(warmUp), duration(steady), duration(coolDown), share(idle, one.region)])));
  }));
}

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
      cells: [`#${one.id}`, one.operation + (one.name ? ' ' + one.name : ''), (data.groups[one.group].name ? `"${data.groups[one.group].name}" ` : '') + (one.partial ? `${one.records} of ${one.records < members ? members : 'more'} ranks` : members === data.world_size ? `all ${members}` : `${members} ranks`),
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

// [exposed, hidden] of waiting and transfer, of which no more is known than the sum.
const exposedParts = (all, exposed, colour) => exposed === null ? [[all, style('--weak'), 'not known how much is hidden']] : [[exposed, colour, 'exposed'], [all - exposed, style('--hidden'), 'hidden by compute']];

function drawWaitStates() {
  byId('wait-states').hidden = data.wait_states.length === 0;
  follows('wait-states');
  const scale = Math.max(1, ...data.wait_states.map(one => one[3]));
  fill('wait-state-list', swatches([colourOf('barrier_wait'), 'exposed'], [style('--hidden'), 'hidden by compute']),
    table([['state'], ['operations', 'number'], ['waits', 'number'], ['', 'bar'], ['waited', 'number'], ['not hidden', 'number'], ['longest on']],
      data.wait_states.map(([state, operations, waits, waited, exposed, rank, longest]) => [state, count(operations), count(waits),
        stacked(exposedParts(waited, exposed, colourOf('barrier_wait')), scale), duration(waited), duration(exposed), `rank ${rank}: ${duration(longest)}`])));
}

function drawGroups() {
  byId('groups').hidden = data.group_operations.length === 0;
  follows('groups', 'group');
  const rows = data.group_operations.filter(one => chosen.group < 0 || one[0] === chosen.group);
  const scale = Math.max(1, ...rows.map(one => one[4] + (one[3] || 0)));
  fill('group-list', swatches([style('--strong'), 'exposed waiting and transfer'], [style('--hidden'), 'hidden by compute']),
    table([['group'], ['operation'], ['count', 'number'], ['', 'bar'], ['waited', 'number'], ['transfer', 'number'], ['not hidden', 'number'], ['sent', 'number'], ['wire busbw', 'number']],
      rows.map(([group, operation, operations, wait, transfer, exposed, sent, busbw]) => [groupLabel(group), operation, count(operations),
        stacked(exposedParts(transfer + (wait || 0), exposed, style('--strong')), scale), duration(wait), duration(transfer), duration(exposed), bytes(sent), bandwidth(busbw)])));
}

function drawBuckets() {
  byId('buckets').hidden = data.buckets.length === 0;
  follows('buckets', 'group');
  const rows = data.buckets.filter(one => chosen.group < 0 || one[0] === chosen.group), groups = data.groups.length > 1;
  const scale = Math.max(1, ...rows.map(one => one[6] + (one[5] || 0)));
  fill('bucket-list', bucketLegend(),
    table([['operation'], ['which'], ...(groups ? [['group', 'quiet']] : []), ['size', 'number'], ['count', 'number'], ['', 'bar'], ['waits', 'number'], ['transfer', 'number'], ['hidden', 'number'], ['exposed transfer', 'number'], ['exposed wait', 'number']],
      rows.map(one => [one[1], one[2], ...(groups ? [groupLabel(one[0])] : []), bytes(one[3]), count(one[4]), stacked(bucketParts(one), scale), duration(one[5]), duration(one[6]), duration(one[7]), duration(one[8]), duration(one[9])])),
    data.buckets_left_out ? quiet(`${count(data.buckets_left_out)} more, each with less exposed.`) : null);
}

function drawTheory() {
  byId('theory').hidden = data.theory.length === 0;
  follows('theory');
  const amount = (value, unit) => value === null ? kAbsent : unit === 'bytes' ? bytes(Math.round(value)) : `${count(Math.round(value))} ${unit}`;
  fill('theory-list', table([['quantity'], ['of', 'quiet'], ['measured', 'number'], ['theory', 'number'], ['ratio', 'number'], ['theory says', 'quiet']],
    data.theory.map(([quantity, scope, unit, measured, theory, formula]) => [quantity, scope, amount(measured, unit), amount(theory, unit),
      measured === null || !theory ? kAbsent : fixed(measured / theory, 3), formula])));
}

function drawLayers() {
  byId('layers').hidden = data.layers.length === 0;
  follows('layers');
  const recomputes = data.layers.some(one => one[3] !== null), passes = [['--forward', 'forward'], ['--backward', 'backward'], ['--recompute', 'recomputed']];
  const scale = Math.max(1, ...data.layers.map(one => (one[1] || 0) + (one[2] || 0) + (one[3] || 0)));
  fill('layer-list', swatches(...passes.slice(0, recomputes ? 3 : 2).map(([name, label]) => [style(name), label])),
    table([['layer'], ['', 'bar'], ['forward', 'number'], ['backward', 'number'], ...(recomputes ? [['recompute', 'number']] : []), ['fastest', 'number'], ['slowest', 'number'], ['slowest on'], ['ranks', 'number']],
      data.layers.map(([name, forward, backward, recompute, fastest, slowest, rank, ranks]) => [name,
        stacked([forward, backward, recompute].map((ns, at) => [ns, style(passes[at][0]), passes[at][1]]), scale),
        duration(forward), duration(backward), ...(recomputes ? [duration(recompute)] : []), duration(fastest), duration(slowest), `rank ${rank}`, String(ranks)])));
}

function drawUnknown() {
  byId('unknown').hidden = data.unknown.length === 0;
  fill('unknown-list', ...data.unknown.map(line => element('li', {}, ...prose(line))));
}

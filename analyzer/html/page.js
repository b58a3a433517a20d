// The page: what is selected, and one function for each section that draws it.
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const kWindow = 0, kCauses = 1, kCommunication = 10, kOverlap = 11, kExposed = 12, kWaited = 13;
  const kMeasures = 14;
  const chosen = {from: 0, to: data.steps.length - 1, ranks: null, group: -1, measure: 'waited', collective: 0, allRanks: false};
  const root = document.documentElement;
  const colour = cause => data.causes[cause][root.dataset.theme === 'dark' ? 'dark' : 'light'];
  const cause = key => data.causes.findIndex(one => one.key === key);
  const surface = () => getComputedStyle(root).getPropertyValue('--empty').trim();

  // [step][rank] -> measures; a step that a rank has twice (never, but files say many things) is the last.
  const cells = data.steps.map(() => []);
  for (const [step, rank, measures] of data.cells) cells[step][rank] = measures;
  const everything = () => chosen.from === 0 && chosen.to === data.steps.length - 1;
  const selected = rank => chosen.ranks === null || chosen.ranks.has(data.ranks[rank].rank);
  const selectedRanks = () => data.ranks.map((_, index) => index).filter(selected);

  // Of one rank, over the steps selected; over the whole recording where nothing is.
  function measuresOf(rank) {
    if (data.steps.length === 0 || everything()) return data.ranks[rank].all;
    const sum = new Array(kMeasures).fill(0);
    for (let step = chosen.from; step <= chosen.to; ++step) {
      const measures = cells[step][rank];
      if (measures === undefined) continue;
      if (measures === null) return null;
      measures.forEach((value, index) => { sum[index] += value; });
    }
    return sum;
  }
  const causeParts = measures => data.causes.map((one, index) => [measures[kCauses + index], colour(index), one.label]);

  function drawHeader() {
    fill('path', data.path);
    fill('facts', data.facts.join(' · '));
    document.title = data.path + ' · Lockstep';
    fill('verdict', ...data.verdict.map(line => element('p', {}, ...prose(line))));
  }

  function drawTiles() {
    const sum = new Array(kMeasures).fill(0);
    let unknown = 0;
    for (const rank of selectedRanks()) {
      const measures = measuresOf(rank);
      if (measures === null) { ++unknown; continue; }
      measures.forEach((value, index) => { sum[index] += value; });
    }
    const spans = [];
    for (let step = chosen.from; step <= chosen.to && data.steps.length; ++step)
      for (const rank of selectedRanks()) if (cells[step][rank]) spans.push(cells[step][rank][kWindow]);
    const tile = (value, label) => element('div', {class: 'tile'}, element('b', {}, value), element('span', {}, label));
    fill('tiles',
      data.steps.length ? tile(duration(median(spans)), 'a step (median of ranks and steps)') : tile(duration(sum[kWindow]), 'of all ranks together'),
      tile(share(sum[kCauses], sum[kWindow]), 'of the time computes'),
      tile(share(sum[kExposed], sum[kWindow]), 'is exposed communication'),
      tile(share(sum[kWaited], sum[kCommunication]), 'of communication is waiting'),
      tile(share(sum[kOverlap], sum[kCommunication]), 'of communication is hidden by compute'),
      ...(unknown ? [tile(String(unknown), 'ranks of which not all is known')] : []));
  }

  function drawLegend() {
    fill('legend', ...data.causes.map((one, index) =>
      element('span', {}, element('i', {class: 'swatch', style: 'background:' + colour(index)}), one.label)));
  }

  // What the heat map can show: name, value of a cell, what it is a share of, full colour.
  function measure() {
    if (chosen.measure === 'waited') return {label: 'waiting, of the step', value: m => m[kWaited], colour: colour(cause('barrier_wait'))};
    if (chosen.measure === 'window') return {label: 'length of the step', value: m => m[kWindow], colour: colour(cause('transfer')), absolute: true};
    if (chosen.measure === 'exposed') return {label: 'exposed communication, of the step', value: m => m[kExposed], colour: colour(cause('transfer'))};
    const index = Number(chosen.measure);
    return {label: data.causes[index].label + ', of the step', value: m => m[kCauses + index], colour: colour(index)};
  }

  let heat = null;
  function drawHeat() {
    const section = document.getElementById('heat');
    if (data.steps.length === 0) { section.hidden = true; return; }
    const ranks = selectedRanks(), shown = measure(), canvas = document.getElementById('heat-canvas');
    const margin = {left: 46, bottom: 20}, plot = canvas.parentElement.clientWidth || 700;
    const width = Math.max(3, Math.min(90, (plot - margin.left - 4) / data.steps.length));
    const height = Math.max(3, Math.min(24, 400 / Math.max(1, ranks.length)));
    const size = {x: margin.left + width * data.steps.length + 2, y: height * ranks.length + margin.bottom};
    const scale = devicePixelRatio || 1;
    canvas.width = size.x * scale; canvas.height = size.y * scale;
    canvas.style.width = size.x + 'px'; canvas.style.height = size.y + 'px';
    const draw = canvas.getContext('2d');
    draw.scale(scale, scale);
    const value = m => shown.absolute ? shown.value(m) : m[kWindow] ? shown.value(m) / m[kWindow] : 0;
    let least = Infinity, most = 0;
    for (const row of cells) for (const rank of ranks) if (row[rank]) { least = Math.min(least, value(row[rank])); most = Math.max(most, value(row[rank])); }
    if (!shown.absolute) least = 0;
    const empty = surface(), gap = Math.min(width, height) > 6 ? 1 : 0;
    ranks.forEach((rank, at) => {
      cells.forEach((row, step) => {
        const m = row[rank];
        const x = margin.left + step * width, y = at * height;
        const inside = step >= chosen.from && step <= chosen.to;
        draw.globalAlpha = inside ? 1 : 0.3;
        if (m === undefined) return;
        if (m === null) { draw.strokeStyle = '#888'; draw.strokeRect(x + 1, y + 1, width - 2, height - 2); return; }
        draw.fillStyle = mix(empty, shown.colour, most > least ? (value(m) - least) / (most - least) : 0);
        draw.fillRect(x, y, width - gap, height - gap);
      });
    });
    draw.globalAlpha = 1;
    draw.fillStyle = getComputedStyle(root).getPropertyValue('--quiet');
    draw.font = '11px system-ui, sans-serif';
    draw.textAlign = 'right';
    const everyRank = Math.ceil(13 / height);
    ranks.forEach((rank, at) => { if (at % everyRank === 0) draw.fillText(String(data.ranks[rank].rank), margin.left - 6, at * height + Math.min(height, 13) / 2 + 5); });
    draw.textAlign = 'center';
    const everyStep = Math.ceil(34 / width);
    data.steps.forEach((step, at) => { if (at % everyStep === 0) draw.fillText(String(step), margin.left + (at + 0.5) * width, size.y - 6); });
    const text = v => shown.absolute ? duration(v) : share(v, 1);
    fill('heat-scale', element('span', {}, least === Infinity ? kAbsent : text(least)), element('i', {style: `background:linear-gradient(90deg, ${empty}, ${shown.colour})`}),
      element('span', {}, text(most)), element('span', {}, shown.label));
    heat = {margin, width, height, ranks};
  }
  function heatCell(event) {
    if (!heat) return null;
    const box = event.target.getBoundingClientRect();
    const step = Math.floor((event.clientX - box.left - heat.margin.left) / heat.width);
    const rank = heat.ranks[Math.floor((event.clientY - box.top) / heat.height)];
    return step >= 0 && step < data.steps.length && rank !== undefined ? {step, rank} : null;
  }

  // What a finding speaks of, rank by rank.
  const causeOfFinding = {
    straggler: 'barrier_wait', straggler_persistent: 'barrier_wait', straggler_transient: 'barrier_wait', straggler_periodic: 'barrier_wait', imbalance: 'barrier_wait',
    slow_link: 'transfer', no_overlap: 'transfer', buckets_too_large: 'transfer', buckets_too_small: 'transfer',
    first_bucket_late: 'transfer', prefetch_off: 'transfer', prefetch_shallow: 'transfer', all_gathers_throttled: 'transfer',
    sharding_not_needed: 'transfer', reduce_scatter_exposed: 'transfer', tensor_parallel_across_hosts: 'transfer', p2p_slow_path: 'transfer',
    uneven_batches: 'barrier_wait', slow_link_of_rank: 'barrier_wait', exposed_transfer: 'transfer', exposed_communication: 'transfer',
    pipeline_bubble: 'pipeline_bubble', unbalanced_stages: 'pipeline_bubble', data_loading: 'data_wait', host_bound: 'host_bound',
    exposed_copies: 'copy', queued: 'queued', idle_between_computations: 'other', idle_without_launches: 'other', unexplained_idle: 'other'};
  function drawEvidence(finding) {
    const key = causeOfFinding[finding.code];
    if (!key) return null;
    const index = cause(key);
    const ranks = selectedRanks().filter(rank => measuresOf(rank));
    if (ranks.length === 0 || ranks.length > 256) return null;
    const parts = ranks.map(rank => { const m = measuresOf(rank); return m[kWindow] ? m[kCauses + index] / m[kWindow] : 0; });
    const most = Math.max(...parts, 1e-9), width = 1000 / ranks.length;
    const svg = element('svg:svg', {viewBox: '0 0 1000 40', height: 40, preserveAspectRatio: 'none', role: 'img', 'aria-label': data.causes[index].label + ' of each rank'});
    parts.forEach((part, at) => {
      const height = 38 * part / most;
      svg.append(element('svg:rect', {x: at * width, y: 0, width: width * 0.9, height: 40, fill: 'transparent', ...telling(() => `rank ${data.ranks[ranks[at]].rank}: ${data.causes[index].label} ${share(part, 1)} of its time`)}));
      svg.append(element('svg:rect', {x: at * width, y: 40 - height, width: width * 0.9, height, fill: colour(index), 'pointer-events': 'none'}));
    });
    return element('div', {}, svg, element('p', {class: 'quiet'}, `${data.causes[index].label}, rank by rank; the tallest is ${share(most, 1)} of its time`));
  }
  function drawFindings() {
    if (data.findings.length === 0) { fill('finding-list', element('p', {class: 'quiet'}, 'Nothing that costs more than the thresholds of lockstep explain.')); return; }
    fill('finding-list', ...data.findings.map(finding => element('article', {class: 'finding'},
      element('span', {class: 'lost ' + finding.severity}, finding.lost > 0 ? `${duration(finding.lost)} lost` : finding.severity),
      element('h3', {class: finding.severity}, ...prose(finding.title)), element('code', {}, finding.code),
      finding.lost > 0 ? element('span', {class: 'quiet'}, ` ${share(finding.share, 1)} of all time`) : null,
      element('ul', {}, ...finding.evidence.map(line => element('li', {}, ...prose(line)))),
      drawEvidence(finding), finding.remedy ? element('p', {class: 'remedy'}, '→ ', ...prose(finding.remedy)) : null)));
  }

  function drawSteps() {
    const section = document.getElementById('steps');
    section.hidden = data.steps.length === 0;
    if (section.hidden) return;
    const ranks = selectedRanks(), bars = cells.map(row => {
      const known = ranks.map(rank => row[rank]).filter(m => m);
      return data.causes.map((_, index) => known.reduce((sum, m) => sum + m[kCauses + index], 0) / Math.max(1, known.length));
    });
    const totals = bars.map(bar => bar.reduce((a, b) => a + b, 0)), most = Math.max(...totals, 1);
    const height = 170, bottom = 18, side = 60, width = 720, column = (width - side) / bars.length;
    const svg = element('svg:svg', {viewBox: `0 0 ${width} ${height + bottom}`, role: 'img', 'aria-label': 'Steps by cause'});
    for (const part of [0, 0.5, 1]) {
      const y = height - (height - 8) * part;
      svg.append(element('svg:line', {class: 'grid', x1: side, x2: width, y1: y, y2: y}), element('svg:text', {x: side - 6, y: y + 4, 'text-anchor': 'end'}, duration(Math.round(most * part))));
    }
    bars.forEach((bar, step) => {
      let y = height;
      const inside = step >= chosen.from && step <= chosen.to;
      const group = element('svg:g', {opacity: inside ? 1 : 0.3, style: 'cursor:pointer', onclick: () => select(step, step),
        ...telling(() => `step ${data.steps[step]}: ${duration(Math.round(totals[step]))}\n` + bar.map((ns, index) => [ns, index]).filter(one => one[0] > 0).map(([ns, index]) => `${data.causes[index].label} ${duration(Math.round(ns))}`).join('\n'))});
      bar.forEach((ns, index) => {
        const tall = (height - 8) * ns / most;
        y -= tall;
        if (tall > 0) group.append(element('svg:rect', {x: side + step * column, y, width: Math.max(1, Math.min(column * 0.86, 90)), height: tall, fill: colour(index)}));
      });
      svg.append(group);
      if (step % Math.ceil(40 / column) === 0) svg.append(element('svg:text', {x: side + step * column + Math.min(column * 0.86, 90) / 2, y: height + 14, 'text-anchor': 'middle'}, String(data.steps[step])));
    });
    fill('step-bars', svg);
  }

  function drawRanks() {
    let ranks = selectedRanks();
    const blame = rank => data.ranks[rank].blame || 0, all = ranks.length;
    if (!chosen.allRanks && all > 24) ranks = [...ranks].sort((a, b) => blame(b) - blame(a) || a - b).slice(0, 16).sort((a, b) => a - b);
    const known = ranks.map(rank => [rank, measuresOf(rank)]);
    const scale = Math.max(1, ...known.map(([, m]) => m ? m[kWindow] : 0));
    const top = Math.max(0, ...ranks.map(blame));
    const table = element('table', {}, row('th', left('rank'), left('host'), number('window'), left('by cause'), number('exposed'), number('waited'), number('waited for')));
    for (const [rank, m] of known) {
      const one = data.ranks[rank];
      table.append(element('tr', telling(() => `rank ${one.rank} on ${one.host || 'a host without a name'}, ${one.device}\nclock: ${one.clock[2]}, moved by ${duration(one.clock[0])} ± ${duration(one.clock[1])}` + (one.cause ? `\nlate because: ${one.cause}` : '')),
        element('td', {}, one.rank === undefined ? '' : String(one.rank)), element('td', {}, one.host), element('td', {class: 'number'}, m ? duration(m[kWindow]) : kAbsent),
        element('td', {class: 'bar'}, m ? stacked(causeParts(m), scale) : 'damaged: not known'),
        element('td', {class: 'number'}, m ? duration(m[kExposed]) : kAbsent), element('td', {class: 'number'}, m ? duration(m[kWaited]) : kAbsent),
        element('td', {class: 'number' + (top > 0 && blame(rank) === top ? ' high' : '')}, blame(rank) ? duration(blame(rank)) : kAbsent)));
    }
    fill('rank-bars', table, all > ranks.length || chosen.allRanks ? element('button', {type: 'button', onclick: () => { chosen.allRanks = !chosen.allRanks; drawRanks(); }}, chosen.allRanks ? 'Only those that are waited for most' : `All ${all} ranks`) : '');
  }

  function drawCollectives() {
    document.getElementById('collectives').hidden = data.collectives.length === 0;
    const inside = step => everything() || (step !== null && step >= data.steps[chosen.from] && step <= data.steps[chosen.to]);
    const holds = group => chosen.ranks === null || data.groups[group].ranks.some(rank => chosen.ranks.has(rank)) || data.groups[group].ranks.length === 0;
    const list = data.collectives.filter(one => inside(one[3]) && (chosen.group < 0 || one[2] === chosen.group) && holds(one[2]));
    const shown = list.slice(0, 12);
    if (!shown.includes(data.collectives[chosen.collective])) chosen.collective = data.collectives.indexOf(shown[0]);
    const table = element('table', {}, row('th', left('operation'), left('group'), number('step'), number('size'), number('waiting'), number('transfer'), left('last')));
    for (const one of shown) {
      const index = data.collectives.indexOf(one), last = one[7] === null ? 'within clock error' : `rank ${one[7]}, by ${duration(one[8])}`;
      table.append(element('tr', {class: 'pick' + (index === chosen.collective ? ' chosen' : ''), tabindex: 0,
        onclick: () => { chosen.collective = index; drawCollectives(); }, onkeydown: event => { if (event.key === 'Enter') { chosen.collective = index; drawCollectives(); } }},
        element('td', {}, `#${one[0]} ${one[1]}`), element('td', {}, data.groups[one[2]].name || `${data.groups[one[2]].ranks.length} ranks`), element('td', {class: 'number'}, one[3] === null ? kAbsent : String(one[3])),
        element('td', {class: 'number'}, bytes(one[4])), element('td', {class: 'number'}, one[10] ? duration(one[5]) : kAbsent), element('td', {class: 'number'}, duration(one[6])), element('td', {}, last)));
    }
    const more = list.length - shown.length;
    fill('collective-list', table, element('p', {class: 'quiet'}, (more > 0 ? `${more.toLocaleString('en-US')} more, each with less waiting. ` : '') + (data.collectives_left_out ? `${data.collectives_left_out.toLocaleString('en-US')} with the least waiting are not in this page.` : '')));
    drawArrivals(data.collectives[chosen.collective]);
  }
  function drawArrivals(one) {
    if (!one || !one[11]) { fill('arrivals', element('p', {class: 'quiet'}, one ? 'Arrivals are kept of the operations with most waiting only.' : 'No operation is selected.')); return; }
    const arrivals = one[11].filter(([rank]) => selected(rank)), height = Math.max(5, Math.min(20, 380 / Math.max(1, arrivals.length)));
    const end = Math.max(1, ...arrivals.map(([, at, wait, transfer]) => at + wait + transfer)), side = 46, width = 560, plot = width - side - 6;
    const svg = element('svg:svg', {viewBox: `0 0 ${width} ${height * arrivals.length + 22}`, role: 'img', 'aria-label': 'Arrivals of each rank'});
    const x = ns => side + plot * ns / end;
    arrivals.forEach(([rank, at, wait, transfer], position) => {
      const y = position * height, tall = height * 0.72;
      const group = element('svg:g', telling(() => `rank ${data.ranks[rank].rank}\narrives ${duration(at)} after the first\nwaits ${duration(wait)}\ntransfers ${duration(transfer)}`));
      group.append(element('svg:rect', {x: side, y, width: plot, height: tall, fill: 'transparent'}),
        element('svg:rect', {x: x(at), y, width: plot * wait / end, height: tall, fill: colour(cause('barrier_wait'))}),
        element('svg:rect', {x: x(at + wait), y, width: Math.max(1, plot * transfer / end), height: tall, fill: colour(cause('transfer'))}));
      svg.append(group);
      if (position % Math.ceil(12 / height) === 0) svg.append(element('svg:text', {x: side - 6, y: y + tall / 2 + 4, 'text-anchor': 'end'}, String(data.ranks[rank].rank)));
    });
    const bottom = height * arrivals.length;
    for (const part of [0, 0.5, 1]) svg.append(element('svg:text', {x: side + plot * part, y: bottom + 15, 'text-anchor': part === 1 ? 'end' : part === 0 ? 'start' : 'middle'}, duration(Math.round(end * part))));
    fill('arrivals', element('p', {class: 'quiet'}, `#${one[0]} ${one[1]}: when each rank arrived, waited and transferred; the one that waits least is the late one`), svg);
  }

  function drawOverlap() {
    document.getElementById('overlap').hidden = data.group_operations.length === 0;
    const rows = data.group_operations.filter(one => chosen.group < 0 || one[0] === data.groups[chosen.group].name);
    const scale = Math.max(1, ...rows.map(one => one[6] + (one[5] || 0)));
    const table = element('table', {}, row('th', left('group'), number('ranks'), left('operation'), number('count'), number('bytes'), left('waiting and transfer, exposed and hidden'), number('exposed'), number('wire busbw')));
    for (const [name, ranks, operation, count, size, wait, transfer, exposed, busbw] of rows) {
      const all = transfer + (wait || 0);
      const parts = exposed === null ? [[all, colour(cause('other')), 'waiting and transfer']] : [[exposed, colour(cause('barrier_wait')), 'exposed'], [all - exposed, colour(cause('compute')), 'hidden by compute']];
      table.append(element('tr', {}, element('td', {}, name || kAbsent), element('td', {class: 'number'}, String(ranks)), element('td', {}, operation), element('td', {class: 'number'}, count.toLocaleString('en-US')),
        element('td', {class: 'number'}, bytes(size)), element('td', {class: 'bar'}, stacked(parts, scale)), element('td', {class: 'number'}, duration(exposed)), element('td', {class: 'number'}, bandwidth(busbw))));
    }
    fill('overlap-list', table, everything() ? '' : element('p', {class: 'quiet'}, 'Of everything recorded: this table does not follow the steps selected.'));
  }

  function drawWaitStates() {
    document.getElementById('wait-states').hidden = data.wait_states.length === 0;
    const scale = Math.max(1, ...data.wait_states.map(one => one[3]));
    const table = element('table', {}, row('th', left('state'), number('operations'), number('waits'), left('waiting, exposed and hidden'), number('waited'), number('exposed'), left('longest on')));
    for (const [state, operations, waits, waited, exposed, rank, longest] of data.wait_states) {
      const parts = exposed === null ? [[waited, colour(cause('barrier_wait')), 'waiting']] : [[exposed, colour(cause('barrier_wait')), 'exposed'], [waited - exposed, colour(cause('compute')), 'hidden by compute']];
      table.append(element('tr', {}, element('td', {}, state), element('td', {class: 'number'}, operations.toLocaleString('en-US')), element('td', {class: 'number'}, waits.toLocaleString('en-US')),
        element('td', {class: 'bar'}, stacked(parts, scale)), element('td', {class: 'number'}, duration(waited)), element('td', {class: 'number'}, duration(exposed)), element('td', {}, `rank ${rank}: ${duration(longest)}`)));
    }
    fill('wait-state-list', table, everything() ? '' : element('p', {class: 'quiet'}, 'Of everything recorded: this table does not follow the steps selected.'));
  }

  function drawPipelines() {
    document.getElementById('pipelines').hidden = data.pipelines.length === 0;
    fill('pipeline-list', ...data.pipelines.map(one => {
      const scale = Math.max(1, ...one.detail.map(([, , compute, transfer, bubble]) => compute + transfer + bubble));
      const table = element('table', {}, row('th', left('stage'), left('rank'), left('compute, exposed transfer, bubble'), number('bubble')));
      for (const [stage, rank, compute, transfer, bubble] of one.detail)
        table.append(element('tr', {}, element('td', {}, String(stage)), element('td', {}, String(rank)),
          element('td', {class: 'bar'}, stacked([[compute, colour(0), 'compute'], [transfer, colour(1), 'exposed transfer'], [bubble, colour(cause('pipeline_bubble')), 'bubble']], scale)), element('td', {class: 'number'}, share(bubble, compute + transfer + bubble))));
      return element('div', {}, element('p', {}, `${one.group}: ${one.schedule}, ${one.stages} stages, ${one.microbatches === null ? kAbsent : one.microbatches} microbatches; bubble ${one.ratio === null ? kAbsent : share(one.ratio, 1)}, its schedule's ideal ${one.ideal === null ? kAbsent : share(one.ideal, 1)}`), table);
    }));
  }

  function drawTheory() {
    document.getElementById('theory').hidden = data.theory.length === 0;
    const table = element('table', {}, row('th', left('quantity'), left('of'), number('measured'), number('theory'), number('ratio'), left('theory says')));
    const amount = (value, unit) => value === null ? kAbsent : unit === 'bytes' ? bytes(value) : `${value.toLocaleString('en-US')} ${unit}`;
    for (const [quantity, scope, unit, measured, theory, formula] of data.theory)
      table.append(element('tr', {}, element('td', {}, quantity), element('td', {class: 'quiet'}, scope), element('td', {class: 'number'}, amount(measured, unit)), element('td', {class: 'number'}, amount(theory, unit)),
        element('td', {class: 'number'}, measured === null || !theory ? kAbsent : (measured / theory).toFixed(3)), element('td', {class: 'quiet'}, formula)));
    fill('theory-list', table);
  }

  function drawLayers() {
    document.getElementById('layers').hidden = data.layers.length === 0;
    const scale = Math.max(1, ...data.layers.map(one => one.slice(1).reduce((sum, pass) => sum + (pass ? pass[1] : 0), 0)));
    const table = element('table', {}, row('th', left('layer'), left('forward, backward, recomputed (medians of ranks)'), number('forward'), number('backward'), number('slowest rank')));
    for (const [name, forward, backward, recompute] of data.layers)
      table.append(element('tr', {}, element('td', {}, name),
        element('td', {class: 'bar'}, stacked([[forward && forward[1], colour(0), 'forward'], [backward && backward[1], colour(1), 'backward'], [recompute && recompute[1], colour(4), 'recomputed']], scale)),
        element('td', {class: 'number'}, forward ? duration(forward[1]) : kAbsent), element('td', {class: 'number'}, backward ? duration(backward[1]) : kAbsent),
        element('td', {class: 'number'}, String((backward || forward || [0, 0, 0, kAbsent])[3]))));
    fill('layer-list', table);
  }

  function drawWarnings() {
    document.getElementById('unknown').hidden = data.warnings.length === 0;
    fill('warnings', ...data.warnings.map(([code, message]) => element('li', {}, message + ' ', element('code', {class: 'quiet'}, code))));
  }

  function draw() {
    const steps = data.steps.length === 0 ? '' : everything() ? 'all steps' : chosen.from === chosen.to ? `step ${data.steps[chosen.from]}` : `steps ${data.steps[chosen.from]} to ${data.steps[chosen.to]}`;
    const ranks = selectedRanks().length;
    fill('selection', [steps, ranks === data.ranks.length ? 'all ranks' : `${ranks} of ${data.ranks.length} ranks`, chosen.group < 0 ? '' : 'group ' + data.groups[chosen.group].name].filter(Boolean).join(', '));
    document.getElementById('from').value = chosen.from;
    document.getElementById('to').value = chosen.to;
    for (const section of [drawTiles, drawLegend, drawHeat, drawFindings, drawSteps, drawRanks, drawCollectives, drawWaitStates, drawOverlap, drawPipelines, drawTheory, drawLayers]) section();
  }
  function select(from, to) {
    const again = chosen.from === from && chosen.to === to && !(from === 0 && to === data.steps.length - 1);
    chosen.from = again ? 0 : Math.min(from, to);
    chosen.to = again ? data.steps.length - 1 : Math.max(from, to);
    draw();
  }
  // "0-3, 8" as a set of ranks; null for all; undefined for what is no such list.
  function parseRanks(text) {
    if (text.trim() === '' || text.trim() === 'all') return null;
    const ranks = new Set(), known = new Set(data.ranks.map(one => one.rank));
    for (const part of text.split(',')) {
      const match = /^\s*(\d+)\s*(?:[-–:]\s*(\d+)\s*)?$/.exec(part);
      if (!match) return undefined;
      for (let rank = Number(match[1]); rank <= Number(match[2] || match[1]) && rank - Number(match[1]) < 1e6; ++rank) if (known.has(rank)) ranks.add(rank);
    }
    return ranks.size ? ranks : undefined;
  }

  function listen() {
    const from = document.getElementById('from'), to = document.getElementById('to'), ranks = document.getElementById('ranks'), group = document.getElementById('group'), measures = document.getElementById('measure');
    for (const list of [from, to]) {
      data.steps.forEach((step, index) => list.append(element('option', {value: index}, String(step))));
      list.disabled = data.steps.length === 0;
      list.onchange = () => select(Number(from.value), Number(to.value));
    }
    group.append(element('option', {value: -1}, 'all'));
    data.groups.forEach((one, index) => group.append(element('option', {value: index}, `${one.name || 'all ranks'} (${one.ranks.length} ranks)`)));
    group.onchange = () => { chosen.group = Number(group.value); draw(); };
    measures.append(element('option', {value: 'waited'}, 'waiting'), element('option', {value: 'window'}, 'length of the step'), element('option', {value: 'exposed'}, 'exposed communication'),
      ...data.causes.map((one, index) => element('option', {value: index}, one.label)));
    measures.onchange = () => { chosen.measure = measures.value; drawHeat(); };
    ranks.oninput = () => {
      const list = parseRanks(ranks.value);
      ranks.classList.toggle('wrong', list === undefined);
      if (list !== undefined) { chosen.ranks = list; draw(); }
    };
    const form = document.getElementById('filter');
    form.onsubmit = event => event.preventDefault();
    form.onreset = () => {
      Object.assign(chosen, {from: 0, to: data.steps.length - 1, ranks: null, group: -1});
      ranks.classList.remove('wrong');
      setTimeout(draw);  // after the form's own values are back
    };
    const canvas = document.getElementById('heat-canvas');
    canvas.onmousemove = event => {
      const cell = heatCell(event);
      const m = cell && cells[cell.step][cell.rank];
      if (!m) { hush(); return; }
      tell(event, `rank ${data.ranks[cell.rank].rank}, step ${data.steps[cell.step]}: ${duration(m[kWindow])}\n` + data.causes.map((one, index) => [m[kCauses + index], one.label]).filter(one => one[0] > 0).map(([ns, label]) => `${label} ${duration(ns)}`).join('\n'));
    };
    canvas.onmouseleave = hush;
    canvas.onclick = event => { const cell = heatCell(event); if (cell) select(cell.step, cell.step); };
    document.getElementById('theme').onclick = () => { root.dataset.theme = root.dataset.theme === 'dark' ? 'light' : 'dark'; draw(); };
    addEventListener('resize', drawHeat);
  }

  // ?theme=dark in the address overrules the system's.
  const wanted = /[?&#]theme=(dark|light)/.exec(location.href);
  root.dataset.theme = wanted ? wanted[1] : matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  drawHeader();
  drawWarnings();
  listen();
  draw();
})();

// The table of ranks, with the figures of the text report.

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

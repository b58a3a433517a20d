// Who waited for what.

function drawWaitStates() {
  byId('wait-states').hidden = data.wait_states.length === 0;
  follows('wait-states');
  const scale = Math.max(1, ...data.wait_states.map(one => one[3]));
  fill('wait-state-list', swatches([colourOf('barrier_wait'), 'exposed'], [style('--hidden'), 'hidden by compute']),
    table([['state'], ['operations', 'number'], ['waits', 'number'], ['', 'bar'], ['waited', 'number'], ['exposed wait', 'number'], ['longest on']],
      data.wait_states.map(([state, operations, waits, waited, exposed, rank, longest]) => [state, count(operations), count(waits),
        stacked(exposedParts(waited, exposed, colourOf('barrier_wait')), scale), duration(waited), duration(exposed), `rank ${rank}: ${duration(longest)}`])));
}
sections.push(drawWaitStates);

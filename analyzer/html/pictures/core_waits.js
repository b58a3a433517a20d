// How long each rank's training threads waited for a core. The time lies across the causes, so it has none of their colours.

function drawCoreWaitEvidence({waits}) {
  return [element('h4', {}, 'Waiting for a core of each rank, as a share of its time'),
    columnChart(waits.map(([rank, waited, window]) => ({label: String(rank), parts: [[waited / window, style('--strong')]],
      tip: `rank ${rank}: its training threads waited for a core for ${duration(waited)}, ${share(waited, window)} of its time`})), {label: 'Waiting for a core', format: share, height: 100, widest: 46})];
}
pictures.core_waits = drawCoreWaitEvidence;

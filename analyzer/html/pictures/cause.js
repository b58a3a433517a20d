// How much of each rank's time the finding's cause takes.

function drawCauseEvidence({cause}) {
  const index = causeIndex(cause), label = data.causes[index].label;
  const ranks = data.ranks.filter(rank => rank.all && rank.all[kWindow] > 0);
  if (ranks.length === 0) return [];
  return [element('h4', {}, `${label[0].toUpperCase()}${label.slice(1)} of each rank, as a share of its time`),
    columnChart(ranks.map(rank => ({label: String(rank.rank), parts: [[rank.all[kCauses + index] / rank.all[kWindow], causeColour(index)]],
      tip: `rank ${rank.rank}: ${label} ${duration(rank.all[kCauses + index])}, ${share(rank.all[kCauses + index], rank.all[kWindow])} of its time`})), {label, format: share, height: 100, widest: 46})];
}
pictures.cause = drawCauseEvidence;

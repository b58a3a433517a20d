// The ranks' compute, step by step.

// How long the rank that computes longest and the one that computes shortest do, in each step.
function drawBatchEvidence() {
  const rows = cells.map((row, step) => {
    const known = data.ranks.map((rank, index) => [row[index] ? row[index][kCauses + causeIndex('compute')] : null, rank.rank]).filter(([ns]) => ns !== null).sort((a, b) => a[0] - b[0]);
    return known.length ? {step: data.steps[step], least: known[0], most: known[known.length - 1]} : null;
  }).filter(one => one);
  return [element('h4', {}, 'Least and most compute of a rank, step by step'),
    swatches([style('--weak'), 'all ranks have'], [colourOf('compute'), 'the rank with most has more']),
    columnChart(rows.map(({step, least, most}) => ({label: String(step), parts: [[least[0], style('--weak')], [most[0] - least[0], colourOf('compute')]],
      tip: `step ${step}\nrank ${most[1]} computes for ${duration(most[0])}\nrank ${least[1]} for ${duration(least[0])}`})), {label: 'Compute of the ranks, step by step', height: 110}),
    quiet('Even batches would leave nothing to see above the lower part.')];
}
pictures.batches = drawBatchEvidence;

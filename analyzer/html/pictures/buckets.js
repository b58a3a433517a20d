// The collectives of one kind, in the order of a step.

function drawBucketEvidence({operation, group}) {
  const rows = data.buckets.filter(one => one[0] === group && one[1] === operation);
  return [element('h4', {}, `Each ${operation} of a step, in order`), bucketLegend(),
    columnChart(rows.map(one => ({label: one[2], parts: bucketParts(one), tip: `${operation} ${one[2]}, ${bytes(one[3])}\n` + bucketParts(one).map(([ns, , label]) => `${label} ${duration(ns)}`).join('\n')})), {label: `${operation} by bucket`, height: 110}),
    quiet(`Mean of one operation on one rank of ${groupLabel(group)}.`)];
}
pictures.buckets = drawBucketEvidence;

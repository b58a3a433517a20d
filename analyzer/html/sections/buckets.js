// The overlap of collectives that come again in every step.

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
sections.push(drawBuckets);

// Waiting and transfer by group and operation.

function drawGroups() {
  byId('groups').hidden = data.group_operations.length === 0;
  follows('groups', 'group');
  const rows = data.group_operations.filter(one => chosen.group < 0 || one[0] === chosen.group);
  const scale = Math.max(1, ...rows.map(one => one[4] + (one[3] || 0)));
  fill('group-list', swatches([style('--strong'), 'exposed waiting and transfer'], [style('--hidden'), 'hidden by compute']),
    table([['group'], ['operation'], ['count', 'number'], ['', 'bar'], ['waited', 'number'], ['transfer', 'number'], ['exposed', 'number'], ['sent', 'number'], ['wire busbw', 'number']],
      rows.map(([group, operation, operations, wait, transfer, exposed, sent, busbw]) => [groupLabel(group), operation, count(operations),
        stacked(exposedParts(transfer + (wait || 0), exposed, style('--strong')), scale), duration(wait), duration(transfer), duration(exposed), bytes(sent), bandwidth(busbw)])));
}
sections.push(drawGroups);

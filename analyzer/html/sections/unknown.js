// What is not known.

function drawUnknown() {
  byId('unknown').hidden = data.unknown.length === 0;
  fill('unknown-list', ...data.unknown.map(line => element('li', {}, ...prose(line))));
}
sections.push(drawUnknown);

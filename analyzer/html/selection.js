// What the page is of, and what of it is selected: by the form, by a click, or by the address
// (#steps=2-3&ranks=0-1&group=default_pg&theme=dark).

addEventListener('error', event => { document.documentElement.dataset.error = event.message; });

const data = JSON.parse(byId('data').textContent);
const root = document.documentElement;
const kWindow = 0, kCauses = 1, kCommunication = 10, kOverlap = 11, kExposed = 12, kWaited = 13, kExposedWait = 14;
const kMeasures = 15;
const chosen = {from: 0, to: data.steps.length - 1, ranks: null, group: -1, measure: 'waited', collective: 0, allRanks: false};

const causeColour = index => data.causes[index][root.dataset.theme === 'dark' ? 'dark' : 'light'];
const causeIndex = key => data.causes.findIndex(one => one.key === key);
const colourOf = key => causeColour(causeIndex(key));
const style = name => getComputedStyle(root).getPropertyValue(name).trim();

const collectives = data.collectives.map(([id, operation, name, group, step, size, wait, transfer, last, margin, busbw, spread, records, participants, unfinished, arrivals]) =>
  ({id, operation, name, group, step, size, wait, transfer, last, margin, busbw, spread, records, participants, unfinished, arrivals}));

// "0–3, 8": neighbours as a range.
function ranges(numbers) {
  const parts = [];
  for (const number of numbers) {
    const part = parts[parts.length - 1];
    if (part && part[1] + 1 === number) part[1] = number;
    else parts.push([number, number]);
  }
  return parts.map(([first, last]) => first === last ? String(first) : `${first}–${last}`).join(', ');
}
// A name alone may be several groups'.
function groupLabel(index) {
  const {name, ranks} = data.groups[index], members = ranges(ranks);
  const who = ranks.length === 0 ? '' : members.length <= 24 ? 'ranks ' + members : ranks.length + ' ranks';
  return name && who ? `${name} (${who})` : name || who || '(no name)';
}

// [step][rank] -> measures; a step that a rank has twice (never, but files say many things) is the last.
const cells = data.steps.map(() => []);
for (const [step, rank, measures] of data.cells) cells[step][rank] = measures;

const everyStep = () => chosen.from === 0 && chosen.to === data.steps.length - 1;
const selected = rank => chosen.ranks === null || chosen.ranks.has(rank);
const selectedRanks = () => data.ranks.map((_, index) => index).filter(index => selected(data.ranks[index].rank));
const hasFigures = data.ranks.some(rank => rank.all && rank.all[kWindow] > 0);

function addMeasures(sum, measures) {
  measures.forEach((value, index) => { sum[index] = value === null || sum[index] === null ? null : sum[index] + value; });
}
// Of one rank, over the steps selected; over the whole recording where nothing is. null: not known.
function measuresOf(rank) {
  if (data.steps.length === 0 || everyStep()) return data.ranks[rank].all;
  const sum = new Array(kMeasures).fill(0);
  for (let step = chosen.from; step <= chosen.to; ++step) {
    const measures = cells[step][rank];
    if (measures === undefined) continue;
    if (measures === null) return null;
    addMeasures(sum, measures);
  }
  return sum;
}

// Says in a section which selections it does not follow, where there are any: follows('ranks', 'steps', 'group').
function follows(section, ...kinds) {
  const active = [['steps', !everyStep(), 'steps'], ['ranks', chosen.ranks !== null, 'ranks'], ['group', chosen.group >= 0, 'groups']];
  const ignored = active.filter(([kind, is]) => is && !kinds.includes(kind)).map(([, , all]) => all);
  byId(section).querySelector('.scope').textContent = ignored.length === 0 ? '' : `Of all ${ignored.join(', ').replace(/, (?=[^,]*$)/, ' and ')}: does not follow the selection.`;
}

// "0-3, 8" as a set of ranks; null for all; undefined for what is no such list.
function parseRanks(text) {
  if (text.trim() === '' || text.trim() === 'all') return null;
  const ranks = new Set(), known = new Set(data.ranks.map(one => one.rank));
  for (const part of text.split(',')) {
    const match = /^\s*(\d+)\s*(?:[-–:]\s*(\d+)\s*)?$/.exec(part);
    if (!match) return undefined;
    for (const rank of known) if (rank >= Number(match[1]) && rank <= Number(match[2] || match[1])) ranks.add(rank);
  }
  return ranks.size ? ranks : undefined;
}
function parseSteps(text) {
  const match = /^(\d+)(?:[-–:](\d+))?$/.exec(text);
  if (!match) return;
  const from = data.steps.findIndex(step => step >= Number(match[1]));
  const to = data.steps.findLastIndex(step => step <= Number(match[2] || match[1]));
  if (from >= 0 && to >= from) Object.assign(chosen, {from, to});
}
function readAddress() {
  const asked = new URLSearchParams(location.hash.slice(1) || location.search);
  Object.assign(chosen, {from: 0, to: data.steps.length - 1, ranks: parseRanks(asked.get('ranks') || '') || null, group: -1});
  parseSteps(asked.get('steps') || '');
  const group = asked.get('group');
  if (group !== null) chosen.group = data.groups.findIndex((one, index) => one.name === group || groupLabel(index) === group);
  const theme = asked.get('theme');
  root.dataset.theme = theme === 'dark' || theme === 'light' ? theme : root.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
}
// So that what is seen can be sent.
function writeAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const put = (key, value) => value === null ? parts.delete(key) : parts.set(key, value);
  put('steps', everyStep() ? null : `${data.steps[chosen.from]}-${data.steps[chosen.to]}`);
  put('ranks', chosen.ranks === null ? null : ranges([...chosen.ranks].sort((a, b) => a - b)).replaceAll('–', '-').replaceAll(' ', ''));
  const group = chosen.group < 0 ? null : data.groups[chosen.group].name;
  put('group', group === null ? null : data.groups.filter(one => one.name === group).length > 1 ? groupLabel(chosen.group) : group);
  if (parts.has('theme')) parts.set('theme', root.dataset.theme);
  const hash = '#' + parts.toString();
  if (hash !== (location.hash || '#')) history.replaceState(null, '', hash);
}

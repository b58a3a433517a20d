// Findings, each with what it rests on drawn beside it. They are of the whole job, whatever is selected.

// Where the ranks of a job that hung stand: a row for each thing that they are in, a column for each rank.
function drawStandings(standings) {
  const ranks = data.ranks.map(one => one.rank);
  const title = element('h4', {}, 'Which rank stands where');
  if (ranks.length > 64)
    return [title, table([['ranks', 'wide'], ['', ''], ['', 'wide']], standings.map(([who, waits, where, known, elsewhere]) => [ranges(who), waits ? 'in' : elsewhere ? 'elsewhere' : known ? '' : 'not known whether it came', element('span', {}, ...prose(where))]))];
  // Words are not drawn but set: they are whole at any length, and as large as all others.
  const width = 620, column = width / ranks.length, thick = Math.min(column * 0.8, 26), every = Math.ceil(30 / column);
  const strip = (height, draw) => {
    const svg = element('svg:svg', {viewBox: `0 0 ${width} ${height}`, style: `max-width:${width}px`, role: 'img', 'aria-label': 'Which rank stands where'});
    ranks.forEach((rank, at) => draw(svg, rank, at * column, at));
    return svg;
  };
  const numbers = strip(15, (svg, rank, x, at) => { if (at % every === 0) svg.append(element('svg:text', {x: x + thick / 2, y: 12, 'text-anchor': 'middle'}, String(rank))); });
  const rows = standings.flatMap(([who, waits, where, known, elsewhere]) => [
    element('p', {class: 'standing quiet'}, ...prose(waits ? `in ${where}` : known || elsewhere ? where : `not known whether it came: ${where}`)),
    strip(12, (svg, rank, x) => svg.append(element('svg:rect', {x, y: 0, width: thick, height: 11, rx: 2,
      fill: !who.includes(rank) ? style('--empty') : waits ? colourOf('barrier_wait') : elsewhere ? style('--weak') : known ? style('--strong') : style('--quiet')})))]);
  return [title, swatches([colourOf('barrier_wait'), 'waits in it'], [style('--strong'), 'is not where the others wait for it'],
    ...(standings.some(([, , , , elsewhere]) => elsewhere) ? [[style('--weak'), 'elsewhere']] : []),
    ...(standings.some(([, , , known, elsewhere]) => !known && !elsewhere) ? [[style('--quiet'), 'not known whether it came']] : [])), numbers, ...rows];
}
// Of ranks that this finding does not place: which other one does.
function standingsElsewhere(index) {
  const placed = new Set(data.findings[index].standings.flatMap(([who]) => who));
  return data.findings.flatMap((other, at) => {
    const who = [...new Set(other.standings.flatMap(([who]) => who))].filter(rank => !placed.has(rank));
    who.forEach(rank => placed.add(rank));
    return who.length ? [[who, false, `finding ${at + 1} says where`, true, true]] : [];
  });
}

// Where a rank computes longer: time a step of each part of the model, beside the other ranks'.
function drawParts({rank, parts}) {
  if (parts.rows.length === 0) return null;
  const told = parts.rows.some(([, operation]) => operation);
  return element('div', {class: 'parts'}, table(
    [['time a step in', 'wide'], [`rank ${rank}`, 'number'], [parts.others === 1 ? 'other rank' : 'other ranks', 'number'], ['difference', 'number'], ...(told ? [['above all in', 'wide']] : [])],
    parts.rows.map(([name, operation, own, others, difference]) => [name, duration(own), duration(others), difference, ...(told ? [operation] : [])])));
}

// What `lockstep explain` says of a finding's kind, closed until somebody asks. What is open stays so when another
// selection is drawn.
const explained = new Set();
function drawExplanation(index) {
  const code = data.findings[index].code, kind = data.kinds[code];
  if (!kind) return null;
  const node = element('details', {ontoggle: () => node.open ? explained.add(index) : explained.delete(index)},
    element('summary', {}, 'What this means'),
    element('p', {}, element('b', {}, `${code}: ${kind.title}. `), ...prose(kind.meaning)),
    ...kind.parts.map(([heading, text]) => element('p', {}, element('b', {}, `${heading}: `), ...prose(text))),
    element('ul', {}, ...kind.remedies.map(([where, what]) => element('li', {}, element('b', {}, `${where}: `), ...prose(what)))));
  node.open = explained.has(index);
  return node;
}

function drawFindings() {
  if (data.findings.length === 0) {
    if (data.no_all_clear) fill('finding-list', quiet(...prose(data.no_all_clear)));
    else fill('finding-list', quiet('Nothing that costs more than the thresholds of ', element('code', {}, 'lockstep explain'), '.'));
    return;
  }
  follows('findings');
  fill('finding-list', ...data.findings.map((finding, index) => {
    const drawing = finding.drawn ? pictures[finding.drawn.kind](finding.drawn) : finding.standings.length ? drawStandings([...finding.standings, ...standingsElsewhere(index)]) : [];
    return element('article', {class: 'finding' + (drawing.length ? '' : ' plain')},
      element('div', {},
        element('h3', {class: finding.severity}, element('span', {class: 'quiet'}, `${index + 1}. `), ...prose(finding.title)),
        element('p', {class: 'cost'}, finding.lost > 0 ? element('b', {class: finding.severity}, `${duration(finding.lost)} lost (${share(finding.share)}${finding.of})${finding.shared ? `, ${finding.shared}` : ''}${finding.severity === 'note' ? ', a note' : ''}`) : element('b', {class: finding.severity}, finding.severity), ' ', element('code', {}, finding.code)),
        element('ul', {}, ...finding.evidence.map(line => element('li', {}, ...prose(line)))),
        drawParts(finding),
        finding.remedy ? element('p', {class: 'remedy'}, '→ ', ...prose(finding.remedy)) : null,
        drawExplanation(index)),
      drawing.length ? element('div', {class: 'drawing'}, ...drawing) : null);
  }));
}

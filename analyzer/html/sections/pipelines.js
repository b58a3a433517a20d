// Each pipeline: its bubble, and the time of its stages.

function drawPipelines() {
  byId('pipelines').hidden = data.pipelines.length === 0;
  follows('pipelines');
  fill('pipeline-list', swatches([colourOf('compute'), 'compute'], [colourOf('transfer'), 'exposed transfer'], [colourOf('pipeline_bubble'), 'bubble']), ...data.pipelines.map(one => {
    const bubble = one.ratio === null ? 'bubble not known' : `bubble ${share(one.ratio)} of the region` + (one.ideal === null ? '' : `, ideal ${share(one.ideal)}`);
    const columns = [['stage', 'number'], ['rank', 'number'], ['layers', 'quiet'], ['', 'bar'], ['compute', 'number'], ['transfer', 'number'], ['bubble', 'number'], ['warm-up', 'number'], ['steady', 'number'], ['cool-down', 'number'], ['of the region', 'number']];
    return element('div', {}, element('p', {}, element('b', {}, `"${one.group}"`), `: ${one.schedule}: ${bubble}`), table(columns, one.detail.map(([stage, rank, layers, compute, transfer, idle, warmUp, steady, coolDown]) => [
      String(stage), String(rank), ranges(layers), stacked([[compute, colourOf('compute'), 'compute'], [transfer, colourOf('transfer'), 'exposed transfer'], [idle, colourOf('pipeline_bubble'), 'bubble']], Math.max(1, ...one.detail.map(row => row[3] + row[4] + row[5]))),
      duration(compute), duration(transfer), duration(idle), duration(warmUp), duration(steady), duration(coolDown), share(idle, one.region)])));
  }));
}
sections.push(drawPipelines);

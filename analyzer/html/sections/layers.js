// The time of each layer.

function drawLayers() {
  byId('layers').hidden = data.layers.length === 0;
  follows('layers');
  const recomputes = data.layers.some(one => one[3] !== null), passes = [['--forward', 'forward'], ['--backward', 'backward'], ['--recompute', 'recomputed']];
  const scale = Math.max(1, ...data.layers.map(one => (one[1] || 0) + (one[2] || 0) + (one[3] || 0)));
  fill('layer-list', swatches(...passes.slice(0, recomputes ? 3 : 2).map(([name, label]) => [style(name), label])),
    table([['layer'], ['', 'bar'], ['forward', 'number'], ['backward', 'number'], ...(recomputes ? [['recompute', 'number']] : []), ['fastest', 'number'], ['slowest', 'number'], ['slowest on'], ['ranks', 'number']],
      data.layers.map(([name, forward, backward, recompute, fastest, slowest, rank, ranks]) => [name,
        stacked([forward, backward, recompute].map((ns, at) => [ns, style(passes[at][0]), passes[at][1]]), scale),
        duration(forward), duration(backward), ...(recomputes ? [duration(recompute)] : []), duration(fastest), duration(slowest), `rank ${rank}`, String(ranks)])));
}
sections.push(drawLayers);

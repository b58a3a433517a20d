// The compute of each stage of the accused rank's pipeline.

function drawStageEvidence({pipeline, rank}) {
  const {group, detail} = data.pipelines[pipeline], median = lowerMedian(detail.map(([, , , compute]) => compute));
  return [element('h4', {}, `Compute of each stage of ${group}`),
    columnChart(detail.map(([stage, of, , compute]) => ({
      label: `${stage}`, parts: [[compute, of === rank ? colourOf('compute') : style('--weak')]], tip: `stage ${stage} (rank ${of}) computes for ${duration(compute)}`})), {label: 'Compute of each stage', height: 110}),
    quiet(`Stage by stage; the median stage computes for ${duration(median)}. Coloured: rank ${rank}'s stage.`)];
}
pictures.stages = drawStageEvidence;

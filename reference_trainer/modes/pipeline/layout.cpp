#include "reference_trainer/modes/pipeline/layout.h"

#include <fmt/format.h>

#include "reference_trainer/modes/pipeline/options.h"

namespace lockstep::trainer {

PipelineShape pipeline_shape(const Options& options, int world_size) {
  const PipelineOptions& pipeline = options.own.get<PipelineOptions>();
  const int usual_chunks = pipeline.schedule == PipelineSchedule::interleaved ? 2 : 1;
  return {.schedule = pipeline.schedule,
          .stages = pipeline.stages == 0 ? world_size : pipeline.stages,
          .microbatches = options.training.gradient_accumulation,
          .chunks = pipeline.chunks == 0 ? usual_chunks : pipeline.chunks};
}

Status check_pipeline(const Options& options, int world_size) {
  if (world_size == 1) return Error{"--mode pipeline: one rank is no pipeline; give --ranks N"};
  const PipelineShape shape = pipeline_shape(options, world_size);
  if (const Status status = check_shape(shape); !status.ok()) return status;
  if (world_size % shape.stages != 0)
    return Error{
        fmt::format("--pipeline-stages {}: {} ranks can't be cut into pipelines of {}; {} ranks would do",
                    shape.stages, world_size, shape.stages, nearest_multiples(world_size, shape.stages))};
  const int layers = options.model.layers;
  if (layers % shape.model_stages() != 0) {
    const std::string pieces = shape.chunks == 1
                                   ? fmt::format("{} stages", shape.stages)
                                   : fmt::format("{} stages of {} chunks", shape.stages, shape.chunks);
    return Error{fmt::format("--layers {}: they can't be spread evenly over {}; {} layers would do", layers,
                             pieces, nearest_multiples(layers, shape.model_stages()))};
  }
  return {};
}

PipelinePlace pipeline_place(const PipelineShape& shape, int world_size, int rank) {
  PipelinePlace place;
  place.pipelines = world_size / shape.stages;
  place.stage = rank / place.pipelines;
  place.pipeline = rank % place.pipelines;
  for (int stage = 0; stage < shape.stages; ++stage)
    place.stage_ranks.push_back(stage * place.pipelines + place.pipeline);
  for (int pipeline = 0; pipeline < place.pipelines; ++pipeline)
    place.copies.push_back(place.stage * place.pipelines + pipeline);
  return place;
}

PartRange parts_of_model_stage(const PipelineShape& shape, int layers, int model_stage) {
  const int each = layers / shape.model_stages();
  PartRange parts{model_stage * each + 1, (model_stage + 1) * each};
  if (model_stage == 0) parts.first = 0;
  if (model_stage + 1 == shape.model_stages()) parts.last = layers + 1;
  return parts;
}

}  // namespace lockstep::trainer

#include "reference_trainer/modes/pipeline/mode.h"

#include <nlohmann/json.hpp>

#include "reference_trainer/modes/pipeline/layout.h"
#include "reference_trainer/modes/pipeline/options.h"
#include "reference_trainer/options/flag_kinds.h"

namespace lockstep::trainer {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kHeading = "Pipeline (--mode pipeline)";

void add_flags(CLI::App& app, Options& options) {
  PipelineOptions& pipeline = options.own.get<PipelineOptions>();
  app.add_option(
         "--pipeline-stages", pipeline.stages,
         "Ranks in a row (default: all); several rows train side by side, each on its share of the batch")
      ->check(whole_number(2, 1024))
      ->type_name("N")
      ->group(kHeading);
  add_choice(app, "--schedule", "In which order a stage takes its microbatches (--microbatches)",
             {{"gpipe", PipelineSchedule::gpipe},
              {"1f1b", PipelineSchedule::one_forward_one_backward},
              {"interleaved", PipelineSchedule::interleaved}},
             "1f1b", kHeading, pipeline.schedule);
  app.add_option(
         "--chunks", pipeline.chunks,
         "Interleaved: pieces of the model on each rank, which a microbatch visits in turns (default 2)")
      ->check(whole_number(1, 1000))
      ->type_name("N")
      ->group(kHeading);
  app.add_flag("--overlap-p2p-communication", pipeline.overlap_p2p,
               "Post each receive one pass earlier, so that it runs beneath compute (Megatron-LM's flag)")
      ->group(kHeading);
}

void write_flags(const Options& options, int world_size, Json& flags) {
  const PipelineShape shape = pipeline_shape(options, world_size);
  flags["pipeline_stages"] = shape.stages;
  flags["schedule"] = to_string(shape.schedule);
  flags["chunks"] = shape.chunks;
  flags["overlap_p2p_communication"] = options.own.get<PipelineOptions>().overlap_p2p;
}

MeshPlace place_in_pipelines(const Options& options, int world_size, int rank) {
  const PipelineShape shape = pipeline_shape(options, world_size);
  const PipelinePlace place = pipeline_place(shape, world_size, rank);
  return {
      .replica = place.pipeline, .replicas = place.pipelines, .stage = place.stage, .stages = shape.stages};
}

constinit const ModeFlags kFlags{.heading = kHeading, .add = add_flags};

}  // namespace

constinit const Mode Pipeline::mode{.name = "pipeline",
                                    .flags = &kFlags,
                                    .can_use_nccl = false,
                                    .place = place_in_pipelines,
                                    .check = check_pipeline,
                                    .write_flags = write_flags};

}  // namespace lockstep::trainer

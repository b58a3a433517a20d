// Which rank of a job is which stage of which pipeline, and which parts of the model it holds.
//
// With P stages and D pipelines side by side, rank s · D + d is stage s of pipeline d: neighbours in a
// pipeline are D ranks apart (the outermost dimension, as in DeepSpeed and Megatron-LM), and the ranks that
// hold the same stage are next to each other.
#pragma once

#include <vector>

#include "base/result.h"
#include "reference_trainer/modes/pipeline/schedule.h"
#include "reference_trainer/options/options.h"

namespace lockstep::trainer {

// What --pipeline-stages, --schedule and --chunks come to for a job of `world_size` ranks: without the first,
// all ranks are one pipeline; without the last, an interleaved rank has 2 chunks.
PipelineShape pipeline_shape(const Options& options, int world_size);

// Whether ranks, layers and microbatches divide as the shape wants them to.
Status check_pipeline(const Options& options, int world_size);

struct PipelinePlace {
  int stage = 0;
  int pipeline = 0;              // which, of those side by side
  int pipelines = 1;             // D
  std::vector<int> stage_ranks;  // of the same pipeline, by stage
  std::vector<int> copies;       // ranks that hold the same stage, by pipeline
};
PipelinePlace pipeline_place(const PipelineShape& shape, int world_size, int rank);

// Parts of the model (model/model.h), both included.
struct PartRange {
  int first = 0;
  int last = 0;
};
// The layers are spread evenly over the model stages; the first one has the embedding too, the last the head.
PartRange parts_of_model_stage(const PipelineShape& shape, int layers, int model_stage);

}  // namespace lockstep::trainer

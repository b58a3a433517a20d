// For tests: the timeline that a pipeline schedule makes, by simulation. Each stage runs its passes in the
// order given, each as soon as the stage is free and what it needs has been computed (and moved, if moving
// takes time).
//
//   Job job = pipeline_job({.stages = 4, .order = one_forward_one_backward(4, 8)}).build();
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {

struct PlannedPass {
  bool forward = true;
  int microbatch = 0;
  int chunk = 0;
};
using PipelineOrder = std::vector<std::vector<PlannedPass>>;  // [stage]

inline PipelineOrder gpipe(int stages, int microbatches) {
  PipelineOrder order(static_cast<std::size_t>(stages));
  for (auto& stage : order) {
    for (int m = 0; m < microbatches; ++m) stage.push_back({true, m, 0});
    for (int m = microbatches - 1; m >= 0; --m) stage.push_back({false, m, 0});
  }
  return order;
}

// `warm_up` forwards, then forward and backward in turn (Megatron-LM's words; the same as 1F1B's definition
// with one more forward before the first backward), over the given sequences of forwards and backwards.
inline std::vector<PlannedPass> in_turn(const std::vector<PlannedPass>& forwards,
                                        const std::vector<PlannedPass>& backwards, std::size_t warm_up) {
  std::vector<PlannedPass> order;
  std::size_t f = 0, b = 0;
  while (f < std::min(warm_up, forwards.size())) order.push_back(forwards[f++]);
  while (b < backwards.size()) {
    if (f < forwards.size()) order.push_back(forwards[f++]);
    order.push_back(backwards[b++]);
  }
  return order;
}

inline PipelineOrder one_forward_one_backward(int stages, int microbatches) {
  PipelineOrder order;
  for (int stage = 0; stage < stages; ++stage) {
    std::vector<PlannedPass> forwards, backwards;
    for (int m = 0; m < microbatches; ++m)
      forwards.push_back({true, m, 0}), backwards.push_back({false, m, 0});
    order.push_back(in_turn(forwards, backwards, static_cast<std::size_t>(stages - stage - 1)));
  }
  return order;
}

// Precondition: the stages divide the microbatches.
inline PipelineOrder interleaved(int stages, int microbatches, int chunks) {
  PipelineOrder order;
  for (int stage = 0; stage < stages; ++stage) {
    std::vector<PlannedPass> forwards, backwards;
    for (int first = 0; first < microbatches; first += stages) {
      for (int chunk = 0; chunk < chunks; ++chunk) {
        for (int m = first; m < first + stages; ++m) {
          forwards.push_back({true, m, chunk});
          backwards.push_back({false, m, chunks - 1 - chunk});
        }
      }
    }
    order.push_back(in_turn(forwards, backwards,
                            static_cast<std::size_t>((chunks - 1) * stages + 2 * (stages - 1 - stage))));
  }
  return order;
}

struct PipelinePlan {
  int stages = 2;
  PipelineOrder order;
  int chunks = 1;
  Nanoseconds forward = 10, backward = 20;  // of one chunk
  // Longer passes of one stage: ns added to each, to its layers or beside them.
  int slow_stage = -1;
  Nanoseconds slower_by = 0;
  bool slower_beside_layers = false;
  // One stage begins its first pass no earlier than this after `begin`: until then it does nothing.
  int idle_stage = -1;
  Nanoseconds idles_for = 0;
  Nanoseconds begin = 1000;
  int layers_of_chunk = 2;  // each a range of its own; 0: a pass is one, without a layer
  // The rank of stage 0; the others follow.
  std::int32_t first_rank = 0;
  std::string group = "pipeline";
  // Messages move nothing: sent when a pass ends, received when the receiver begins. Both sides wait from
  // when they are free; or nobody waits, for orders in which messages of one direction overtake each other.
  bool waits = true;
};

// Adds one step of a pipeline; when its last pass ends.
inline Nanoseconds add_pipeline_step(JobBuilder& job, std::uint32_t group, const PipelinePlan& plan) {
  const int parts = plan.stages * plan.chunks;
  std::map<std::tuple<bool, int, int>, Nanoseconds> done;  // (forward, microbatch, part) -> end
  std::vector<std::size_t> next(static_cast<std::size_t>(plan.stages), 0);
  std::vector<Nanoseconds> free(static_cast<std::size_t>(plan.stages), plan.begin);
  if (plan.idle_stage >= 0) free[static_cast<std::size_t>(plan.idle_stage)] += plan.idles_for;
  Nanoseconds last = plan.begin;
  for (bool moved = true; moved;) {
    moved = false;
    for (int stage = 0; stage < plan.stages; ++stage) {
      const auto s = static_cast<std::size_t>(stage);
      while (next[s] < plan.order[s].size()) {
        const PlannedPass pass = plan.order[s][next[s]];
        const int part = pass.chunk * plan.stages + stage;
        // What it needs: the part before, or behind, on another stage; the last backward its own forward.
        const bool turns = !pass.forward && part == parts - 1;
        const bool needs = !pass.forward || part > 0;
        const std::tuple need(pass.forward || turns, pass.microbatch,
                              pass.forward ? part - 1
                              : turns      ? part
                                           : part + 1);
        if (needs && !done.contains(need)) break;
        const Nanoseconds ready = needs ? done.at(need) : plan.begin;
        const Nanoseconds begin = std::max(free[s], ready);
        const Nanoseconds slower = stage == plan.slow_stage ? plan.slower_by : 0;
        const Nanoseconds end = begin + (pass.forward ? plan.forward : plan.backward) + slower;
        RankBuilder& rank = job.rank(plan.first_rank + stage);
        const bool crosses = needs && !turns && plan.stages > 1;
        if (crosses) {
          const int sender = (pass.forward ? stage + plan.stages - 1 : stage + 1) % plan.stages;
          job.rank(plan.first_rank + sender)
              .send(plan.first_rank + stage, ready, plan.waits ? begin : ready)
              .in_group(group);
          rank.recv(plan.first_rank + sender, plan.waits ? free[s] : ready, plan.waits ? begin : ready)
              .in_group(group);
        }
        const Pass kind = pass.forward ? Pass::forward : Pass::backward;
        const Nanoseconds layers_end = plan.layers_of_chunk == 0   ? begin
                                       : plan.slower_beside_layers ? end - slower
                                                                   : end;
        for (int l = 0; l < plan.layers_of_chunk; ++l) {
          const int place = pass.forward ? l : plan.layers_of_chunk - 1 - l;
          rank.pass(kind, part * plan.layers_of_chunk + place, pass.microbatch,
                    begin + (layers_end - begin) * l / plan.layers_of_chunk,
                    begin + (layers_end - begin) * (l + 1) / plan.layers_of_chunk);
        }
        if (layers_end < end) rank.pass(kind, -1, pass.microbatch, layers_end, end);
        done[{pass.forward, pass.microbatch, part}] = end;
        free[s] = end;
        last = std::max(last, end);
        ++next[s];
        moved = true;
      }
    }
  }
  for (std::size_t stage = 0; stage < next.size(); ++stage) {
    if (next[stage] < plan.order[stage].size()) throw std::logic_error("the order of passes cannot run");
  }
  return last;
}

inline std::vector<std::int32_t> ranks_of(const PipelinePlan& plan) {
  std::vector<std::int32_t> ranks;
  for (int stage = 0; stage < plan.stages; ++stage) ranks.push_back(plan.first_rank + stage);
  return ranks;
}

// One pipeline, one step, no step marks.
inline JobBuilder pipeline_job(const PipelinePlan& plan) {
  JobBuilder job;
  const std::uint32_t group = job.group(plan.group, ranks_of(plan));
  add_pipeline_step(job, group, plan);
  return job;
}

}  // namespace lockstep::analyzer

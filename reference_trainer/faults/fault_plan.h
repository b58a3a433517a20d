// What the planted faults mean for one rank at one moment. Everything random follows from the job's seed and
// the place in the job alone, so that a job that is run again, and all ranks of one job, see the same.
//
// Steps count from 1, ranks, stages, microbatches and collectives from 0.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "reference_trainer/faults/fault.h"

namespace lockstep::trainer {

class FaultPlan {
 public:
  FaultPlan() = default;  // nothing goes wrong
  FaultPlan(std::vector<Fault> faults, std::uint64_t seed);

  bool empty() const { return faults_.empty(); }
  // For whatever rank and step.
  bool has(FaultKind kind) const;

  // How many times as long as without faults this rank computes; ≥ 1. `stage` is its stage of the pipeline, 0
  // without one. What several faults say is multiplied.
  double compute_factor(int rank, int stage, std::int64_t step) const;

  // How many times as long as usual the samples of a microbatch are, on average; ≥ 1. Each sample's length is
  // drawn uniformly from [1, factor]. `replica`: the data-parallel rank: those who share its samples agree.
  double batch_factor(int replica, std::int64_t step, int microbatch, int samples) const;

  // How much later each batch comes.
  std::chrono::nanoseconds loader_delay(int rank, std::int64_t step) const;

  // How long the rank stops before its computation number `place` of a step that has `places` of them.
  std::chrono::nanoseconds pause(int rank, std::int64_t step, int place, int places) const;

  // How much later each computation starts.
  std::chrono::nanoseconds launch_delay(int rank, std::int64_t step) const;

  // Whether the rank leaves out a collective in this step.
  bool skips_collective(int rank, std::int64_t step) const;

  // How long it takes this rank to send so many bytes at the rate that it is held to; nothing where it is not
  // held. Of several rates the lowest counts.
  std::optional<std::chrono::nanoseconds> sending_time(int rank, std::int64_t step, std::int64_t bytes) const;

 private:
  template <class Visit>
  void each(FaultKind kind, int place, std::int64_t step, const Visit& visit) const;

  std::vector<Fault> faults_;
  std::uint64_t seed_ = 0;
};

}  // namespace lockstep::trainer

// The faults of one rank while it trains: what the parts of the trainer ask before they compute, load or
// send. Nothing is planted before the first step and after the last one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>

#include "reference_trainer/faults/fault_plan.h"

namespace lockstep::trainer {

// Where a rank stands, as far as faults are concerned.
struct FaultPlace {
  int rank = 0;
  int stage = 0;    // of the pipeline
  int replica = 0;  // data-parallel rank: which share of the batch it computes
  int samples = 1;  // in a microbatch
};

class RankFaults {
 public:
  RankFaults() = default;  // none
  RankFaults(FaultPlan plan, FaultPlace place) : plan_(std::move(plan)), place_(place) {}
  RankFaults(const RankFaults&) = delete;
  RankFaults& operator=(const RankFaults&) = delete;

  // By the thread that computes, as are the next three.
  void begin_step(std::int64_t step);
  // Sleeps where this rank is to start computations late, or to pause. Outside of compute ranges.
  void before_computation();
  // Sleeps for as long as the next batch is late.
  void wait_for_batch() const;
  // How many times as long as usual a computation for this microbatch (−1: for none) takes; ≥ 1.
  double compute_factor(std::int64_t microbatch) const;
  // How much larger than usual this microbatch of the step is; ≥ 1.
  double batch_factor(std::int64_t microbatch) const;

  // Of any thread:
  bool slows_links() const { return plan_.has(FaultKind::slow_link); }
  bool skips_collectives() const { return plan_.has(FaultKind::skip_collective); }
  // How long sending so many bytes has to take; 0 for a link that is not slow.
  std::chrono::nanoseconds sending_time(std::int64_t bytes) const;
  // Whether the collective that is about to be issued is to be left out: true once in a step that has the
  // fault.
  bool skip_collective();

 private:
  FaultPlan plan_;
  FaultPlace place_;
  std::atomic<std::int64_t> step_ = 0;
  std::atomic<bool> skip_next_ = false;
  int computations_ = 0, computations_of_step_before_ = 1;
};

}  // namespace lockstep::trainer

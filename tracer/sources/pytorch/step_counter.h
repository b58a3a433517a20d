// Counts steps as they happen, by the optimizers that step: what --steps and the watch for hangs go by. It
// can't wait, as TrainingLoop can, for the next step to know that one was over: it knows from the first steps
// which optimizers belong to a step, and a step is over when all of them have stepped.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

namespace lockstep::tracer::pytorch {

// On the thread that trains.
class StepCounter {
 public:
  void begin_optimizer(std::uint64_t identity);
  // The number of the step that begins now, if the optimizer was the last of its step; counted from 0. Until
  // all optimizers have been seen once, the same number may come again.
  std::optional<std::int64_t> end_optimizer();

 private:
  std::set<std::uint64_t> known_;
  std::set<std::uint64_t> stepped_;  // in this step
  std::int64_t step_ = 0;
  bool just_ended_ = false;
};

}  // namespace lockstep::tracer::pytorch

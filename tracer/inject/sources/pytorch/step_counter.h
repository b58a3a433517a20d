// Counts steps as they happen, by the optimizers that step: what --steps, the watch for hangs and the trace's
// own steps go by. A step is over when all optimizers that belong to one have stepped, each once or more (a
// GAN's critic five times, its generator once); which those are the first steps tell. An optimizer that is
// missed while another steps nine times belongs to none from then on: it steps less often, or no more. So
// does one that comes only after nine steps (DiLoCo's outer one) and is not seen again within eight more. One
// that steps nine times while no other does takes the place of all that do not.
#pragma once

#include <cstdint>
#include <map>
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
  struct Rare {
    std::int64_t step = 0;  // in which it stepped last
    int times = 0;          // in that step
    bool missed = false;    // it belonged to a step once
  };

  // Of one that is not known, which steps: whether it counts in this step.
  bool joins(std::uint64_t identity);

  std::set<std::uint64_t> known_;         // those that belong to a step
  std::map<std::uint64_t, Rare> rare_;    // and those that do not
  bool settled_ = false;                  // one that comes now is rare at first
  std::map<std::uint64_t, int> stepped_;  // of the known ones in this step: how often
  std::int64_t step_ = 0;
  bool just_ended_ = false;
};

}  // namespace lockstep::tracer::pytorch

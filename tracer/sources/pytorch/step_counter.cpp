#include "tracer/sources/pytorch/step_counter.h"

namespace lockstep::tracer::pytorch {

void StepCounter::begin_optimizer(std::uint64_t identity) {
  // One more than was known: the step that seemed to be over goes on.
  if (known_.insert(identity).second && just_ended_ && step_ > 0) {
    --step_;
    stepped_ = known_;
  }
  just_ended_ = false;
  stepped_.insert(identity);
}

std::optional<std::int64_t> StepCounter::end_optimizer() {
  if (stepped_.size() < known_.size()) return std::nullopt;
  stepped_.clear();
  just_ended_ = true;
  return ++step_;
}

}  // namespace lockstep::tracer::pytorch

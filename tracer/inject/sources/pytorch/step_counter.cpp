#include "tracer/inject/sources/pytorch/step_counter.h"

namespace lockstep::tracer::pytorch {

namespace {

constexpr int kMaxTimes = 8;  // that an optimizer steps in one step: more than critics of GANs do

}  // namespace

void StepCounter::begin_optimizer(std::uint64_t identity) {
  const bool just_ended = just_ended_;
  just_ended_ = false;
  if (rare_.contains(identity)) return;
  // One more than was known: the step that seemed to be over goes on.
  if (known_.insert(identity).second && just_ended && step_ > 0) {
    --step_;
    for (const std::uint64_t known : known_) stepped_[known] = 1;
    return;
  }
  if (++stepped_[identity] <= kMaxTimes) return;
  for (const std::uint64_t known : known_)
    if (!stepped_.contains(known)) rare_.insert(known);
  std::erase_if(known_, [this](std::uint64_t known) { return rare_.contains(known); });
}

std::optional<std::int64_t> StepCounter::end_optimizer() {
  if (stepped_.size() < known_.size() || stepped_.empty()) return std::nullopt;
  stepped_.clear();
  just_ended_ = true;
  return ++step_;
}

}  // namespace lockstep::tracer::pytorch

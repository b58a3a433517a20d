#include "tracer/inject/sources/pytorch/step_counter.h"

namespace lockstep::tracer::pytorch {

namespace {

constexpr int kMaxTimes = 8;  // that an optimizer steps in one step: more than critics of GANs do
// Of a program that makes a new optimizer for each of its tasks no more are remembered.
constexpr std::size_t kMaxRare = 1024;

}  // namespace

void StepCounter::begin_optimizer(std::uint64_t identity) {
  const bool just_ended = just_ended_;
  just_ended_ = false;
  settled_ = settled_ || step_ > kMaxTimes;
  if (settled_ && !known_.contains(identity) && !joins(identity)) return;
  // One more than was known: the step that seemed to be over goes on.
  if (known_.insert(identity).second && just_ended && step_ > 0) {
    --step_;
    for (const std::uint64_t known : known_) stepped_[known] = 1;
    return;
  }
  if (++stepped_[identity] <= kMaxTimes) return;
  settled_ = true;
  for (const std::uint64_t known : known_)
    if (!stepped_.contains(known)) rare_[known] = {step_, 0, true};
  std::erase_if(known_, [this](std::uint64_t known) { return rare_.contains(known); });
}

bool StepCounter::joins(std::uint64_t identity) {
  if (rare_.size() >= kMaxRare && !rare_.contains(identity)) rare_.clear();
  const auto where = rare_.try_emplace(identity, Rare{step_, 0, false}).first;
  Rare& rare = where->second;
  const std::int64_t apart = step_ - rare.step;
  rare.step = step_;
  rare.times = apart == 0 ? rare.times + 1 : 1;
  const bool often = apart > 0 && apart <= kMaxTimes && !rare.missed;
  const bool alone = rare.times > kMaxTimes;
  if (!often && !alone) return false;
  if (alone) stepped_[identity] = kMaxTimes;
  known_.insert(identity);
  rare_.erase(where);
  return !stepped_.empty();  // the step that seems to be over is: it counts from the next one on
}

std::optional<std::int64_t> StepCounter::end_optimizer() {
  if (stepped_.size() < known_.size() || stepped_.empty()) return std::nullopt;
  stepped_.clear();
  just_ended_ = true;
  return ++step_;
}

}  // namespace lockstep::tracer::pytorch

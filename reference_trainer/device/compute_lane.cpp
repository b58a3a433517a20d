#include "reference_trainer/device/compute_lane.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "reference_trainer/device/pacing.h"

namespace lockstep::trainer {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014): good enough for jitter, and the same everywhere.
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t value = state += 0x9E3779B97F4A7C15u;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

}  // namespace

ComputeLane::ComputeLane(const PaceOptions& pace, std::uint64_t seed, int rank, RankFaults& faults)
    : pace_(pace), faults_(faults), random_(seed * 1'000'003 + static_cast<std::uint64_t>(rank)) {
  if (paced()) sleep_exactly();
}

std::int64_t ComputeLane::modelled_ns(const Computation& computation) {
  constexpr double kRange = 18446744073709551616.0;  // 2^64
  const double uniform = static_cast<double>(next_random(random_)) / kRange;
  const double factor =
      (1 + pace_.jitter * (2 * uniform - 1)) * faults_.compute_factor(computation.microbatch);
  return std::llround(computation.flops / pace_.flops_per_second * factor * 1e9);
}

void ComputeLane::follow_device(std::string name, std::function<Event()> mark) {
  mark_ = std::move(mark);
  if (annotations::tool_attached()) follower_ = std::make_unique<HostStream>(std::move(name));
}

// The follower hears of both ends when they are issued, and shows each when the device comes there.
void ComputeLane::begin_on_device(const Computation& computation) {
  if (!follower_) return;
  follower_->enqueue(
      {.run = [name = std::string(computation.name), layer = computation.layer,
               microbatch = computation.microbatch,
               pass = computation.pass] { annotations::push_compute(name, layer, microbatch, pass); },
       .after = {mark_()}});
}

void ComputeLane::end_on_device() {
  if (follower_) follower_->enqueue({.run = annotations::pop, .after = {mark_()}});
}

ComputeLane::Range::Range(ComputeLane& lane, const Computation& computation)
    : lane_(&lane), pass_(computation.pass) {
  lane.faults_.before_computation();
  if (lane.on_device()) {
    lane.begin_on_device(computation);
    return;
  }
  const bool held = lane.paced() && computation.flops > 0;
  if (held) end_ns_ = monotonic_ns() + lane.modelled_ns(computation);
  annotations::push_compute(computation.name, computation.layer, computation.microbatch, computation.pass);
  if (!held) return;
  sleep_until(end_ns_ - lane.arithmetic_ns_[static_cast<std::size_t>(pass_)]);
  start_ns_ = monotonic_ns();
}

void ComputeLane::Range::end() {
  if (lane_ == nullptr) return;
  ComputeLane& lane = *std::exchange(lane_, nullptr);
  if (lane.on_device()) return lane.end_on_device();
  if (end_ns_ > 0) {
    const std::int64_t now = monotonic_ns();
    // Follows a longer time at once and a shorter one slowly.
    std::int64_t& expected = lane.arithmetic_ns_[static_cast<std::size_t>(pass_)];
    expected = std::max(now - start_ns_, expected - expected / 8);
    ++lane.held_;
    if (now > end_ns_) ++lane.late_;
    sleep_until(end_ns_);
  }
  annotations::pop();
}

}  // namespace lockstep::trainer

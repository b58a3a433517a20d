#include "reference_trainer/device/compute_lane.h"

#include <sys/prctl.h>
#include <time.h>

#include <cmath>

namespace lockstep::trainer {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

void sleep_until(std::int64_t time_ns) {
  const timespec time{time_ns / kSecond, time_ns % kSecond};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
  }
}

// SplitMix64 (Steele, Lea, Flood 2014): good enough for jitter, and the same everywhere.
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t value = state += 0x9E3779B97F4A7C15u;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

}  // namespace

ComputeLane::ComputeLane(const PaceOptions& pace, std::uint64_t seed, int rank)
    : pace_(pace), random_(seed * 1'000'003 + static_cast<std::uint64_t>(rank)) {
  // The kernel may round a thread's timers up by 50 µs, to wake less often; here they are the clock.
  if (paced()) prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);
}

std::int64_t ComputeLane::modelled_ns(double flops) {
  constexpr double kRange = 18446744073709551616.0;  // 2^64
  const double uniform = static_cast<double>(next_random(random_)) / kRange;
  const double factor = 1 + pace_.jitter * (2 * uniform - 1);
  return std::llround(flops / pace_.flops_per_second * factor * 1e9);
}

ComputeLane::Range::Range(ComputeLane& lane, const Computation& computation) : lane_(&lane) {
  if (lane.paced() && computation.flops > 0) {
    begin_ns_ = now_ns();
    hold_ns_ = lane.modelled_ns(computation.flops);
  }
  annotations::push_compute(computation.name, computation.layer, computation.microbatch, computation.pass);
}

void ComputeLane::Range::end() {
  if (lane_ == nullptr) return;
  if (hold_ns_ > 0) {
    ++lane_->held_;
    if (now_ns() > begin_ns_ + hold_ns_)
      ++lane_->late_;
    else
      sleep_until(begin_ns_ + hold_ns_);
  }
  annotations::pop();
  lane_ = nullptr;
}

}  // namespace lockstep::trainer

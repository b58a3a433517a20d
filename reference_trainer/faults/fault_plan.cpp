#include "reference_trainer/faults/fault_plan.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

namespace lockstep::trainer {
namespace {

using std::chrono::nanoseconds;

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every bit of the input reaches every bit of the
// result.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

// A number in [0, 1) that follows from the coordinates alone.
double uniform(std::initializer_list<std::uint64_t> coordinates) {
  std::uint64_t state = 0;
  for (const std::uint64_t coordinate : coordinates) state = mix(state ^ coordinate);
  return static_cast<double>(state >> 11) * 0x1.0p-53;
}

std::uint64_t whole(std::int64_t number) {
  return static_cast<std::uint64_t>(number);
}

nanoseconds duration(double amount, double unit_ns) {
  return nanoseconds(std::llround(amount * unit_ns));
}

constexpr double kMillisecond = 1e6;
constexpr double kMicrosecond = 1e3;

}  // namespace

FaultPlan::FaultPlan(std::vector<Fault> faults, std::uint64_t seed)
    : faults_(std::move(faults)), seed_(seed) {}

// visit(fault, number): the number tells faults of one kind apart, which draw differently.
template <class Visit>
void FaultPlan::each(FaultKind kind, int place, std::int64_t step, const Visit& visit) const {
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    const Fault& fault = faults_[i];
    if (fault.kind == kind && fault.place.value_or(place) == place && fault.holds_in(step)) visit(fault, i);
  }
}

bool FaultPlan::has(FaultKind kind) const {
  return std::any_of(faults_.begin(), faults_.end(),
                     [kind](const Fault& fault) { return fault.kind == kind; });
}

double FaultPlan::compute_factor(int rank, int stage, std::int64_t step) const {
  double factor = 1;
  const auto multiply = [&factor](const Fault& fault, std::size_t) { factor *= fault.amount; };
  each(FaultKind::slow_rank, rank, step, multiply);
  each(FaultKind::slow_stage, stage, step, multiply);
  return factor;
}

double FaultPlan::batch_factor(int replica, std::int64_t step, int microbatch, int samples) const {
  double factor = 1;
  each(FaultKind::uneven_batch, replica, step, [&](const Fault& fault, std::size_t number) {
    double lengths = 0;
    for (int sample = 0; sample < samples; ++sample) {
      lengths += 1 + (fault.amount - 1) * uniform({seed_, number, whole(replica), whole(step),
                                                   whole(microbatch), whole(sample)});
    }
    if (samples > 0) factor *= lengths / samples;
  });
  return factor;
}

nanoseconds FaultPlan::loader_delay(int rank, std::int64_t step) const {
  nanoseconds sum{};
  each(FaultKind::slow_loader, rank, step,
       [&sum](const Fault& fault, std::size_t) { sum += duration(fault.amount, kMillisecond); });
  return sum;
}

nanoseconds FaultPlan::pause(int rank, std::int64_t step, int place, int places) const {
  nanoseconds sum{};
  each(FaultKind::pause, rank, step, [&](const Fault& fault, std::size_t number) {
    const double where = uniform({seed_, number, whole(rank), whole(step)});
    if (static_cast<int>(where * places) == place) sum += duration(fault.amount, kMillisecond);
  });
  return sum;
}

nanoseconds FaultPlan::launch_delay(int rank, std::int64_t step) const {
  nanoseconds sum{};
  each(FaultKind::delayed_launch, rank, step,
       [&sum](const Fault& fault, std::size_t) { sum += duration(fault.amount, kMicrosecond); });
  return sum;
}

bool FaultPlan::skips_collective(int rank, std::int64_t step) const {
  bool skips = false;
  each(FaultKind::skip_collective, rank, step, [&skips](const Fault&, std::size_t) { skips = true; });
  return skips;
}

std::optional<nanoseconds> FaultPlan::sending_time(int rank, std::int64_t step, std::int64_t bytes) const {
  std::optional<double> lowest;
  each(FaultKind::slow_link, rank, step, [&lowest](const Fault& fault, std::size_t) {
    lowest = std::min(lowest.value_or(fault.amount), fault.amount);
  });
  if (!lowest) return std::nullopt;
  const double nanoseconds_per_byte = 8 * 1e3 / *lowest;  // 1 Mbit/s: 1 bit a microsecond
  return duration(static_cast<double>(bytes), nanoseconds_per_byte);
}

}  // namespace lockstep::trainer

#include "tracer/inject/control/steps.h"

#include <atomic>
#include <limits>

#include "tracer/inject/control/gate.h"
#include "tracer/inject/core/source.h"
#include "tracer/inject/core/tracer.h"

namespace lockstep::tracer::control {

namespace {

constinit std::atomic<std::int64_t> first_step{std::numeric_limits<std::int64_t>::min()};
constinit std::atomic<std::int64_t> last_step{std::numeric_limits<std::int64_t>::max()};
constinit std::atomic<std::int64_t> latest{kNoStep};
constinit std::atomic<std::int64_t> least_seen{std::numeric_limits<std::int64_t>::max()};
constinit std::atomic<std::int64_t> most_seen{std::numeric_limits<std::int64_t>::min()};

}  // namespace

void step_began(std::int64_t number) noexcept {
  latest.store(number, std::memory_order_relaxed);
  if ((gate_word() & kWatchSteps) == 0) return;
  // Inside the tracer (a signal handler that interrupted it) nothing can be noted, so nothing is changed.
  if (thread_state.busy.load(std::memory_order_relaxed) != 0) return;
  const bool wanted = number >= first_step.load(std::memory_order_relaxed) &&
                      number <= last_step.load(std::memory_order_relaxed);
  const bool changed = wanted ? change_gate(0, kOutsideSteps) : change_gate(kOutsideSteps, 0);
  const ControlBody body{number, gate_word(), 0};
  const ControlRecord type = changed ? ControlRecord::gate_changed : ControlRecord::step_began;
  emit_always(kControlRecords, static_cast<std::uint8_t>(type), &body, sizeof body);
}

void note_step(std::int64_t number) noexcept {
  latest.store(number, std::memory_order_relaxed);
}

void step_seen(std::int64_t number) noexcept {
  // One thread of a process trains: two at once may lose one of their numbers.
  if (number < least_seen.load(std::memory_order_relaxed))
    least_seen.store(number, std::memory_order_relaxed);
  if (number > most_seen.load(std::memory_order_relaxed)) most_seen.store(number, std::memory_order_relaxed);
}

std::optional<StepRange> seen_steps() noexcept {
  const StepRange seen{least_seen.load(std::memory_order_relaxed), most_seen.load(std::memory_order_relaxed)};
  return seen.first <= seen.last ? std::optional(seen) : std::nullopt;
}

std::int64_t current_step() noexcept {
  return latest.load(std::memory_order_relaxed);
}

void record_only_steps(std::int64_t first, std::int64_t last) noexcept {
  first_step.store(first, std::memory_order_relaxed);
  last_step.store(last, std::memory_order_relaxed);
  change_gate(kOutsideSteps | kWatchSteps, 0);
}

void record_all_steps() noexcept {
  first_step.store(std::numeric_limits<std::int64_t>::min(), std::memory_order_relaxed);
  last_step.store(std::numeric_limits<std::int64_t>::max(), std::memory_order_relaxed);
}

}  // namespace lockstep::tracer::control

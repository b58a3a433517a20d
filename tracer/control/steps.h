// Where the job says that a step begins: what opens and closes the gate for --steps, and what ring mode and
// the watch for hangs measure progress by.
#pragma once

#include <cstdint>

namespace lockstep::tracer::control {

// This rank begins a step: `number` is the job's own. Called before the step's range is recorded, by NVTX
// pushes with a `lockstep.step` payload and by the PyTorch hook. Costs one load where nobody asked for steps.
// Any thread; no effect in a signal handler that interrupted the tracer.
void step_began(std::int64_t number) noexcept;

// The last number that step_began() was told; kNoStep before the first. Known only where steps are watched.
inline constexpr std::int64_t kNoStep = INT64_MIN;
std::int64_t current_step() noexcept;

// Only steps from `first` to `last`, both included, are recorded; before the first of them nothing is. Called
// before any thread emits.
void record_only_steps(std::int64_t first, std::int64_t last) noexcept;
// All steps again: somebody asked for recording by hand.
void record_all_steps() noexcept;

}  // namespace lockstep::tracer::control

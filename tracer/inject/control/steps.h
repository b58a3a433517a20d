// Where the job says that a step begins: what opens and closes the gate for --steps, and what ring mode and
// the watch for hangs measure progress by.
#pragma once

#include <cstdint>
#include <optional>

#include "tracer/protocol/plan.h"

namespace lockstep::tracer::control {

// This rank begins a step: `number` is the job's own. Called before the step's range is recorded, by NVTX
// pushes with a `lockstep.step` payload and by the PyTorch hook. Costs a store where nobody asked for steps.
// Any thread; in a signal handler that interrupted the tracer only the number is noted.
void step_began(std::int64_t number) noexcept;

// Where NVTX calls do not look for steps, because nobody asked for them: the writer thread tells the number.
void note_step(std::int64_t number) noexcept;

// The last number of these; kNoStep before the first.
inline constexpr std::int64_t kNoStep = INT64_MIN;
std::int64_t current_step() noexcept;

// The job has a step of this number, whether it is recorded or not: what to say where nothing was. For a
// source that only counts (PyTorch) a step is one that has ended.
void step_seen(std::int64_t number) noexcept;
std::optional<StepRange> seen_steps() noexcept;

// Only steps from `first` to `last`, both included, are recorded; before the first of them nothing is. Called
// before any thread emits.
void record_only_steps(std::int64_t first, std::int64_t last) noexcept;
// All steps again: somebody asked for recording by hand.
void record_all_steps() noexcept;

}  // namespace lockstep::tracer::control

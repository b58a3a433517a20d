// Time as a model has it: how the paced device holds a thread until a modelled moment.
#pragma once

#include <cstdint>

#include "reference_trainer/options/options.h"
#include "trace/events/event.h"

namespace lockstep::trainer {

// CLOCK_MONOTONIC.
std::int64_t monotonic_ns();
void sleep_until(std::int64_t monotonic_ns);
// The kernel may round a thread's timers up by 50 µs, to wake less often: not the calling one's from now on.
void sleep_exactly();

// How long a ring of `size` ranks needs for an operation of `bytes` (of the larger side), from the last
// arrival: what each rank sends in it (docs/metrics.md, "Bandwidth"), and the latency. 0 without a modelled
// network.
std::int64_t modelled_transfer_ns(const PaceOptions& pace, trace::Operation operation, std::uint64_t bytes,
                                  int size);

}  // namespace lockstep::trainer

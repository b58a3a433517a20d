// Bandwidths as nccl-tests defines them (its doc/PERFORMANCE.md), in gigabytes (10⁹ bytes) a second.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/events/event.h"

namespace lockstep::analyzer {

// What the wires carry for one byte of the operation's size, among `ranks` ranks: 2(n−1)/n for all_reduce,
// (n−1)/n for all_gather, reduce_scatter, all_to_all, gather and scatter, 1 for broadcast, reduce and
// point-to-point. Absent for other operations, and where there is nobody to talk to.
std::optional<double> bus_factor(trace::Operation operation, std::int32_t ranks);

// bytes / t. Bytes in a nanosecond are gigabytes in a second. Absent where the size is not known (< 0) or no
// time passed.
std::optional<double> bandwidth_gbps(std::int64_t bytes, double time_ns);

}  // namespace lockstep::analyzer

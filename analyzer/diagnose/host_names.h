// What did the host of the late rank do, while its device waited for a launch?
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

struct Delay;
struct Diagnosis;

// A time in which one of the long host ranges (kLongHostRange) was the innermost of them on its thread.
struct HostSpan {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  std::uint32_t name = 0;  // Job::strings
};
// One list for each thread that has long ranges; each sorted by begin, without overlap. Steps name nothing
// that a host does, and are left out.
using HostSpans = std::vector<std::vector<HostSpan>>;
HostSpans innermost_host_ranges(const RankTrace& rank);

struct SlowHostRange {
  std::uint32_t name = 0;      // Job::strings
  std::int64_t own_ns = 0;     // mean over the delays: innermost on the late rank's threads …
  std::int64_t others_ns = 0;  // … and on the others' (median)
  double share = 0;            // of all the excess of these delays
};

// The name with the greatest excess over the median of the other ranks, between leaving together and
// arriving, summed over the given delays, which are of one late rank. Absent where no long range took the
// late rank longer than the others.
std::optional<SlowHostRange> slowest_host_range(const Diagnosis& diagnosis,
                                                std::span<const Delay* const> delays);

}  // namespace lockstep::analyzer

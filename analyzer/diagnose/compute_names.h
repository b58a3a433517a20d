// Which computations took the late rank longer than the others?
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "analyzer/diagnose/diagnosis.h"

namespace lockstep::analyzer {

struct SlowComputation {
  std::uint32_t name = 0;         // Job::strings
  std::int64_t own_ns = 0;        // mean over the delays: the late rank …
  std::int64_t others_ns = 0;     // … and the median of the others
  std::int64_t own_count = 0;     // activities of this name, over all the delays looked at
  std::int64_t others_count = 0;  // median of the others
  bool others_run_it = false;     // any of them, however few
  double share = 0;               // of all the excess of these delays
  // More work: it ran more often, and that explains at least half of the excess; where most others do not run
  // it, in addition to what they run, and it makes up the excess. Else the same work took longer; what a host
  // computes may then come in more pieces, because it was interrupted.
  bool is_more_work = false;
  // Of a layer that no other rank runs (stages of a pipeline): one pass of it, and the median of the same
  // pass of the others' layers. Where both are known they are what it is compared with, not the absence
  // elsewhere.
  std::optional<std::int64_t> own_pass_ns = std::nullopt, other_layers_pass_ns = std::nullopt;
};

// The name with the greatest excess over the median of the other ranks, between leaving together and
// arriving, summed over those of the delays that delay_groups takes. Absent where none takes longer than the
// others', or the delays are before messages and the late rank's layers have none like them elsewhere. All
// delays are of one late rank.
std::optional<SlowComputation> slowest_computation(const Diagnosis& diagnosis,
                                                   std::span<const Delay* const> delays);

}  // namespace lockstep::analyzer

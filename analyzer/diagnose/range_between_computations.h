// Of a rank on a CPU that does something longer between its computations: in which host range. There the host
// computes and communicates in ranges as well, and how long these take says nothing of the time between them.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/lateness/step_table.h"

namespace lockstep::analyzer {

// The name (Job::strings) of the long range that is innermost for longest, beyond the median of the other
// ranks, in what of the table's steps is neither computation, communication nor loading. Absent where it
// makes up less than `least` of late.cause_ns, or less than what lies in no range. O((activities + ranges)
// log).
std::optional<std::uint32_t> range_between_computations(const FindingContext& context, const StepTable& steps,
                                                        const RankLateness& late, double least);

}  // namespace lockstep::analyzer

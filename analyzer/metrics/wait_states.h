// Sorts waits by what was waited for: docs/metrics.md, "Wait states".
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "analyzer/model/job.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Of a record of `of_record` (a send, of a message) in an operation. A rooted operation whose root is not
// known is computed as n-to-n, and named so.
WaitState wait_state_of(Operation of_record, bool point_to_point, bool root_unknown);

// Over the report's collectives; of the ranks that `counts` says. O(records).
std::vector<WaitStateReport> summarise_wait_states(
    const Report& report, const std::function<bool(std::int32_t)>& counts = [](std::int32_t) { return true; },
    const std::stop_token& stop = {});

}  // namespace lockstep::analyzer

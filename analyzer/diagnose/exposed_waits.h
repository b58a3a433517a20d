// What waiting for a rank cost the others.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "analyzer/model/job.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// By the rank waited for: over all other ranks, the time in which they waited in an operation that it came
// last to, and neither computed nor moved data in another one. An instant counts once, however many
// operations wait in it (a step's last buckets often do), so that no rank loses more than it has. `counts`
// chooses operations. O(activities + records · log records).
std::map<std::int32_t, std::int64_t> exposed_waits(
    const Job& job, const Report& report, const std::function<bool(const CollectiveReport&)>& counts);

}  // namespace lockstep::analyzer

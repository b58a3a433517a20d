// The analyzer's front door: from a Job to a Report.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/model/job.h"
#include "analyzer/report/report.h"
#include "trace/result.h"

namespace lockstep::analyzer {

struct AnalysisOptions {
  // Only these steps: ranks[] then covers the union of their windows. Absent: the whole window.
  std::optional<std::int64_t> first_step, last_step;
};

// A stretch of a rank's window that has one cause. Segments are sorted, touch each other and cover their window exactly.
struct CauseSegment {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  Cause cause = Cause::other;
};

struct Analysis {
  Report report;
  // [rank index][communication index] -> index into report.collectives, or kNone where unmatched.
  std::vector<std::vector<std::uint32_t>> collective_of;
  // [rank index]: the whole window's partition as segments, times on the Job's axis. What a step bar or cause lane draws.
  std::vector<std::vector<CauseSegment>> segments;
};

// Errors: selected steps that no rank has (the message lists those that exist).
Result<Analysis> analyze(const Job& job, const AnalysisOptions& options = {});

}  // namespace lockstep::analyzer

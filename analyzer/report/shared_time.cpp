#include "analyzer/report/shared_time.h"

#include <fmt/format.h>

#include <cstddef>

namespace lockstep::analyzer {

namespace {

// Or its link.
bool accuses_a_rank(const Finding& finding) {
  return finding.rank && (finding.accuses == Accused::rank || finding.accuses == Accused::link);
}

// Jitter counts what is left of the waiting beside what findings count that name a rank.
bool is_rest_beside(const Finding& jitter, const Finding& other) {
  return jitter.topic == Topic::taking_turns && accuses_a_rank(other);
}

}  // namespace

std::string describe_shared_time(const Report& report, const Finding& finding) {
  if (finding.lost_ns <= 0) return "";
  for (std::size_t i = 0; i < report.findings.size() && &report.findings[i] != &finding; ++i) {
    const Finding& before = report.findings[i];
    if (before.lost_ns <= 0) continue;
    // What is waited in an operation is waited for its last rank, and for no other.
    if (accuses_a_rank(finding) && accuses_a_rank(before) && finding.rank != before.rank &&
        finding.cause == Cause::barrier_wait)
      continue;
    if (is_rest_beside(finding, before) || is_rest_beside(before, finding)) continue;
    if (finding.cause && before.cause == finding.cause)
      return fmt::format("of the same time as finding {}", i + 1);
    if (finding.has_core_waits && before.has_core_waits)
      return fmt::format("partly of the same time as finding {}", i + 1);
  }
  return "";
}

}  // namespace lockstep::analyzer

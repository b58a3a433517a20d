// Where the ranks of a job that hung stand, as its findings say.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyzer/report/report.h"

namespace lockstep::viewer {

struct RankStanding {
  // Others wait for it, or its device stands still: the findings name it as a cause.
  bool culprit = false;
  // "never came", "device stands still", "waits"; "" where no finding says any of these.
  std::string brief;
  // What it did not come to, what it waits in, what cannot be told, and what is known of it; of a rank that
  // no finding names, in words that there is nothing.
  std::string text;
};

// One for each of `ranks`, which are global numbers in ascending order. O(findings · ranks in them).
std::vector<RankStanding> rank_standings(const analyzer::Report& report, std::span<const std::int32_t> ranks);

// The report has the order of operations and no times, as flight recorders' dumps have.
bool holds_order_alone(const analyzer::Report& report);
// What there is of such a run's operations, where others have lists of theirs.
inline constexpr const char* kWhereOrderStands =
    "flight recorders' operations stand in the overview and beside the ranks: they have no times, and are "
    "neither listed nor searched here";

}  // namespace lockstep::viewer

// Which part of a run is asked for: steps, ranks, rows of tables.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/restrict_report.h"
#include "base/result.h"

namespace lockstep::cli {

// "3", "3:5", "3:" and ":5".
struct StepRange {
  std::optional<long long> first, last;
};
Result<StepRange> parse_step_range(const std::string& text);

// "3", "0,4:7" and "0-3": ranks and ranges of them, both ends included. `flag` is for the message.
Result<std::vector<analyzer::RankRange>> parse_rank_list(const std::string& flag, const std::string& text);

// A number of table rows, or "all".
Result<std::size_t> parse_rows(const std::string& flag, const std::string& text);

}  // namespace lockstep::cli

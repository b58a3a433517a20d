// The report for people at a terminal: the verdict in words, then ranks, steps, the worst collectives,
// findings, and what is not known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/report/page.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

inline constexpr std::size_t kAllRows = std::numeric_limits<std::size_t>::max();

struct TextOptions {
  PageOptions page;
  // Rows of the tables. Ranks: absent is all up to 16, else the 10 that say most (waited for, longest,
  // shortest, median, waiting).
  std::optional<std::size_t> ranks;
  std::size_t steps = 6;
  std::size_t collectives = 8;
  bool layers = false;  // the table of layers, which is long
  // What was selected, in words, for the headline: "steps 3 to 5". Empty: everything.
  std::string selection;
  bool restricted = false;         // to ranks or a group: the findings are of the whole job
  std::int64_t resolution_ns = 1;  // of the timestamps; said where it is coarser
};

// "8 ranks", "1 host", "50 steps", …: what the report is of, as its headline says it.
std::vector<std::string> headline_facts(const Report& report, const TextOptions& options);
// The verdict's sentences, each whole.
std::vector<std::string> verdict_lines(const Report& report);

std::string to_text(const Report& report, const TextOptions& options = {});

}  // namespace lockstep::analyzer

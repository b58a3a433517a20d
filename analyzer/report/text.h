// The report for people at a terminal: a headline, then the sections of report_sections.h: where the run's
// time went, the verdict in words, findings, ranks, steps, pipelines, the worst collectives, tables of waits,
// groups and buckets, and what is not known. The web page has the same order.
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
// Where the run's wall time went, a sentence each; none where nothing is known of it.
std::vector<std::string> account_lines(const Report& report);
// Which steps are left out of all figures, and why; empty where none are.
std::string steady_line(const Report& report, bool ascii = false);
// The verdict's sentences, each whole.
std::vector<std::string> verdict_lines(const Report& report);
// The sentences under the table of ranks: parallel efficiency, the price of overlap, how long
// threads waited for a core; what is known of them.
std::vector<std::string> efficiency_lines(const Report& report);
// What is not known, and why: warnings, and the absences that people have to know.
std::vector<std::string> unknown_lines(const Report& report);
// Indices into report.collectives, the most waited in first; behind them those of which nobody knows who
// waited, the longest first.
std::vector<std::size_t> collectives_by_cost(const Report& report);
// How far apart its ranks arrived; the longest transfer of one.
std::optional<std::int64_t> spread_of(const CollectiveReport& collective);
std::int64_t longest_transfer(const CollectiveReport& collective);
// Indices into report.buckets, ascending, of those with most exposed time; and a bucket's name, else its
// place within a step.
std::vector<std::size_t> costliest_buckets(const Report& report, std::size_t most);
std::string bucket_name(const BucketReport& bucket);
// "1f1b, 4 stages, 8 microbatches"
std::string schedule_text(const PipelineReport& pipeline);

// "to see: rank 3, step 5, collective #14, from 1.20 s on for 15.0 ms".
std::string describe(const FindingPlace& place);

std::string to_text(const Report& report, const TextOptions& options = {});

}  // namespace lockstep::analyzer

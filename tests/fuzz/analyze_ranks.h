// The rest of the way that an importer's fuzzer goes: from the ranks that it read to a report, of which what
// always holds is checked.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/align/align.h"
#include "analyzer/analysis.h"
#include "analyzer/import/rank/merge.h"
#include "analyzer/report_invariants.h"

namespace lockstep::fuzz {

inline void analyze_job(analyzer::Job job, analyzer::Clocks clocks) {
  analyzer::align_clocks(job, clocks);
  const Result<analyzer::Analysis> analysis = analyzer::analyze(job);
  if (!analysis.ok()) return;
  const std::vector<std::string> broken = analyzer::broken_invariants(analysis.value().report);
  for (const std::string& line : broken) std::fprintf(stderr, "%s\n", line.c_str());
  if (!broken.empty()) std::abort();
}

inline void analyze_ranks(std::vector<analyzer::RankImport> ranks) {
  Result<analyzer::Job> job = analyzer::merge_ranks("fuzz", std::move(ranks), {}, 0);
  if (job.ok()) analyze_job(std::move(job).value(), analyzer::Clocks::each_rank);
}

// One file read twice, as two ranks of one job.
inline void analyze_two_ranks(Result<analyzer::RankImport> first, Result<analyzer::RankImport> second) {
  if (!first.ok() || !second.ok()) return;
  first.value().trace.rank = 0;
  second.value().trace.rank = 1;
  first.value().rank_known = second.value().rank_known = true;
  std::vector<analyzer::RankImport> ranks;
  ranks.push_back(std::move(first).value());
  ranks.push_back(std::move(second).value());
  analyze_ranks(std::move(ranks));
}

}  // namespace lockstep::fuzz

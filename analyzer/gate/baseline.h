// What runs are held to, as a small file that a repository can keep: `lockstep.baseline/1`, one figure a
// line.
#pragma once

#include <string>
#include <vector>

#include "analyzer/gate/run_record.h"
#include "base/result.h"

namespace lockstep::analyzer {

struct Baseline {
  std::string lockstep_version;
  std::string saved;  // "2026-11-27"
  std::vector<RunRecord> runs;
};

std::string to_text(const Baseline& baseline);
// Errors name `path` and what is wrong in it.
Result<Baseline> parse_baseline(const std::string& text, const std::string& path);
Result<Baseline> read_baseline(const std::string& path);
// Whether the path is a file that says to be a baseline, rather than a run or a trace.
bool is_baseline(const std::string& path);

}  // namespace lockstep::analyzer

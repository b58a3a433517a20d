// A comparison for people and for machines.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analyzer/diff/runs_diff.h"
#include "analyzer/diff/suspects.h"
#include "analyzer/report/page.h"

namespace lockstep::analyzer {

struct DiffTextOptions {
  PageOptions page;
  std::size_t rows = 8;  // of each table
};

// For a terminal or a job's log; ends in a new line.
std::string to_text(const RunsDiff& diff, const std::vector<Suspect>& suspects,
                    const DiffTextOptions& options);
// `lockstep.diff/1`: all of it, times in ns (docs/diff.md).
nlohmann::ordered_json to_json(const RunsDiff& diff, const std::vector<Suspect>& suspects);

}  // namespace lockstep::analyzer

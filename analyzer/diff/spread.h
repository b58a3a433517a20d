// How sure the change of a time is: by how much runs differ, or, of one run a side, its own blocks of steps.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "analyzer/diff/run_sums.h"

namespace lockstep::analyzer {

enum class SpreadOf : std::uint8_t {
  runs,     // several runs of one side at least
  steps,    // one run a side: what its steps vary by, which says nothing about how runs differ
  unknown,  // too few steps
};
const char* to_string(SpreadOf of);  // "runs"

struct Spread {
  SpreadOf of = SpreadOf::unknown;
  std::int64_t change_ns = 0;
  std::optional<double> standard_error = std::nullopt;  // ns
  double degrees = 0;                                   // of freedom (Welch and Satterthwaite)
  // The change lies within ± this with 95 % confidence, if there were none; absent where nobody knows.
  std::optional<double> half_width_ns() const;
  // Beyond what chance explains: of `compared` changes at most one of twenty such sets has one.
  bool is_beyond_chance(std::size_t compared = 1) const;
};

// A time of a run, as the mean a step; of the whole run, or of one of its blocks.
using TimeOfRun = std::function<double(const RunSums& run)>;
using TimeOfBlock = std::function<double(const RunSums& run, std::size_t block)>;

Spread spread_of(const std::vector<RunSums>& a, const std::vector<RunSums>& b, const TimeOfRun& of_run,
                 const TimeOfBlock& of_block, std::int64_t change_ns);

}  // namespace lockstep::analyzer

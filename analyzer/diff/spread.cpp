#include "analyzer/diff/spread.h"

#include <cmath>

#include "analyzer/comparison/difference.h"

namespace lockstep::analyzer {
namespace {

constexpr double kConfidence = 0.95;
constexpr std::size_t kLeastBlocks = 3;

Sample sample_of_runs(const std::vector<RunSums>& runs, const TimeOfRun& of_run) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const RunSums& run : runs) values.push_back(of_run(run));
  return sample_of(values);
}

Sample sample_of_blocks(const RunSums& run, const TimeOfBlock& of_block) {
  std::vector<double> values;
  for (std::size_t block = 0; block < run.blocks.size(); ++block) values.push_back(of_block(run, block));
  return sample_of(values);
}

}  // namespace

const char* to_string(SpreadOf of) {
  switch (of) {
    case SpreadOf::runs:
      return "runs";
    case SpreadOf::steps:
      return "steps";
    case SpreadOf::unknown:
      break;
  }
  return "unknown";
}

std::optional<double> Spread::half_width_ns() const {
  if (!standard_error) return std::nullopt;
  return *standard_error * student_quantile((1 + kConfidence) / 2, degrees);
}

bool Spread::is_beyond_chance(std::size_t compared) const {
  if (!standard_error || compared == 0) return false;
  const double tail = (1 - kConfidence) / 2 / static_cast<double>(compared);
  return std::abs(static_cast<double>(change_ns)) > *standard_error * student_quantile(1 - tail, degrees);
}

Spread spread_of(const std::vector<RunSums>& a, const std::vector<RunSums>& b, const TimeOfRun& of_run,
                 const TimeOfBlock& of_block, std::int64_t change_ns) {
  Spread spread{.change_ns = change_ns};
  Difference found;
  if (a.size() > 1 || b.size() > 1) {
    spread.of = SpreadOf::runs;
    found = difference(sample_of_runs(b, of_run), sample_of_runs(a, of_run));
  } else if (a.front().blocks.size() >= kLeastBlocks && b.front().blocks.size() >= kLeastBlocks) {
    spread.of = SpreadOf::steps;
    found = difference(sample_of_blocks(b.front(), of_block), sample_of_blocks(a.front(), of_block));
  } else {
    return spread;
  }
  spread.standard_error = found.standard_error;
  spread.degrees = found.degrees;
  return spread;
}

}  // namespace lockstep::analyzer

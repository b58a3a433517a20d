#include "tests/end_to_end/paced_job.h"

#include <fmt/format.h>

#include <sstream>

namespace lockstep::end_to_end {

namespace {

// Width 32, one sequence of 16 tokens: a layer's forward is 16 · (2 · 12 · 32² + 4 · 16 · 32) operations.
constexpr double kForwardFlops = 425'984;

}  // namespace

Outcome record_paced(const PacedJob& job, const std::string& run_path, const std::vector<std::string>& more) {
  std::vector<std::string> command{binary("lockstep"), "record", "--force",         "-o",
                                   run_path,           "--",     binary("lockstep")};
  std::istringstream words(
      fmt::format("train --device paced --ranks {} --layers {} --steps {} --flops {}"
                  " --hidden 32 --heads 2 --sequence-length 16 --batch-size 1",
                  job.ranks, job.layers, job.steps, kForwardFlops / job.forward_seconds));
  for (std::string word; words >> word;) command.push_back(word);
  command.insert(command.end(), more.begin(), more.end());
  return run(command);
}

}  // namespace lockstep::end_to_end

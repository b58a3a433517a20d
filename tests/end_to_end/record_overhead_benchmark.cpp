// What being recorded costs a training step: whole trainings with and without `lockstep record`, in turns.
//
// Each round runs the same training three times: plain, recorded, plain again. A round's figure is the fast
// step of the recorded run over the mean of the two plain ones around it, so that a machine that slows
// down or speeds up cancels out; the second plain run over the first says how much of a difference this
// machine makes out of nothing.
//
// Counters: overhead_percent (median over rounds), noise_percent (median of |plain again / plain − 1|),
// step_ms.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/end_to_end/support.h"

namespace lockstep {
namespace {

constexpr int kRounds = 15;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Seconds that nine in ten steps of one training take at least, the first steps apart; negative if the
// training failed. What else runs on the machine only adds to a step, so the fast ones say what the step
// itself takes.
double fast_step(bool recorded, int ranks) {
  const end_to_end::TemporaryFolder folder;
  const std::string log = folder / "log.jsonl";
  std::vector<std::string> command;
  if (recorded) command = {end_to_end::binary("lockstep"), "record", "--quiet", "-o", folder / "run", "--"};
  for (const std::string& argument :
       {end_to_end::binary("lockstep-train"), std::string("--ranks"), std::to_string(ranks),
        std::string("--steps"), std::string("35"), std::string("--log"), log}) {
    command.push_back(argument);
  }
  if (end_to_end::run(command).exit_code != 0) return -1;
  std::vector<double> seconds;
  std::ifstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json record = nlohmann::json::parse(line);
    if (record.at("event") == "step" && record.at("step") > 5) seconds.push_back(record.at("seconds"));
  }
  if (seconds.empty()) return -1;
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 10];
}

void BM_StepUnderRecord(benchmark::State& state) {
  const int ranks = static_cast<int>(state.range(0));
  std::vector<double> overhead, noise, step;
  for (auto _ : state) {
    for (int round = 0; round < kRounds; ++round) {
      const double before = fast_step(false, ranks);
      const double recorded = fast_step(true, ranks);
      const double after = fast_step(false, ranks);
      if (before <= 0 || recorded <= 0 || after <= 0) {
        state.SkipWithError("a training failed: run lockstep-train by hand to see why");
        return;
      }
      overhead.push_back((2 * recorded / (before + after) - 1) * 100);
      noise.push_back(std::abs(after / before - 1) * 100);
      step.push_back(before * 1000);
    }
  }
  state.counters["overhead_percent"] = median(overhead);
  state.counters["noise_percent"] = median(noise);
  state.counters["step_ms"] = median(step);
}
BENCHMARK(BM_StepUnderRecord)->ArgName("ranks")->Arg(1)->Arg(2)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace lockstep

BENCHMARK_MAIN();

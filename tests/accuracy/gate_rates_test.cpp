// How often `lockstep check` calls sets of healthy runs different, and how often it finds a planted slowdown:
// runs simulated from real step times, with what steps of a run have in common, and with a spread between
// runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analyzer/figures/figures.h"
#include "analyzer/gate/verdict.h"
#include "analyzer/intervals/median.h"
#include "tests/accuracy/noise.h"

namespace lockstep::accuracy {
namespace {

using analyzer::RunRecord;

constexpr double kStepNs = 400e6, kTransfer = 0.1;

// Box and Muller.
double normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  return radius * std::cos(2 * 3.14159265358979323846 * random.uniform());
}

// A run of ranks that compute, wait for the slowest and move data; `slower` is what its program computes
// longer.
RunRecord run(const NoiseRecording& recording, std::size_t ranks, std::size_t steps, double between_runs,
              double slower, Random& random) {
  std::vector<RankNoise> noise;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    noise.emplace_back(recording, random.next(), 1, steps, false);
  const double level = kStepNs * (1 + between_runs * normal(random)) * (1 + slower);
  std::vector<double> step_times;
  double waits = 0, exposed = 0, hidden = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    std::vector<double> own;
    double transfer = 0;
    for (RankNoise& rank : noise) {
      const StepNoise& drawn = rank.next();
      own.push_back(level * drawn.own());
      transfer = std::max(transfer, kTransfer * level * drawn.transfer);
    }
    const double longest = *std::max_element(own.begin(), own.end());
    for (const double each : own) waits += (longest - each) / static_cast<double>(ranks);
    exposed += transfer;
    hidden += transfer;
    step_times.push_back(longest + transfer);
  }
  const auto count = static_cast<double>(steps);
  RunRecord record;
  record.start_ns = static_cast<std::int64_t>(random.next() >> 1U);
  record.path = std::to_string(*record.start_ns);
  record.setting = {.world_size = static_cast<std::int32_t>(ranks), .hosts = 1, .devices = {"cpu"}};
  record.steps = static_cast<std::int64_t>(steps);
  record.figures = {{"step_time", "", analyzer::lower_median(step_times)},
                    {"barrier_wait", "", waits / count},
                    {"exposed_communication", "", (exposed + waits) / count},
                    {"overlap_ratio", "", hidden / (hidden + exposed + waits)}};
  return record;
}

struct Cell {
  std::size_t runs = 3;
  double between_runs = 0.01, slower = 0;
  int pairs = 400;
};

// How many of the pairs of sets fail.
int failures(const analyzer::Policy& policy, const Cell& cell, std::uint64_t seed) {
  static const std::vector<NoiseRecording> recordings =
      read_noise_folder(std::string(LOCKSTEP_SOURCE_DIR) + "/tests/accuracy/noise/held_out").value();
  Random random(seed);
  int failed = 0;
  for (int pair = 0; pair < cell.pairs; ++pair) {
    const NoiseRecording& recording = recordings[static_cast<std::size_t>(pair) % recordings.size()];
    std::vector<RunRecord> head, base;
    for (std::size_t i = 0; i < cell.runs; ++i) {
      base.push_back(run(recording, 4, 60, cell.between_runs, 0, random));
      head.push_back(run(recording, 4, 60, cell.between_runs, cell.slower, random));
    }
    const auto verdict = analyzer::judge(policy, head, base, {.today = "2026-11-27"});
    EXPECT_TRUE(verdict.ok()) << verdict.error().message;
    failed += verdict.value().outcome == analyzer::Outcome::fail ? 1 : 0;
  }
  return failed;
}

analyzer::Policy step_time_alone() {
  analyzer::Policy policy{.source = "step time", .rules = {}, .expected = {}};
  policy.false_alarms = 0.05;
  policy.rules.push_back({.figure = analyzer::find_figure_kind("step_time"),
                          .scope = "",
                          .bound = std::nullopt,
                          .tolerance = {}});
  return policy;
}

TEST(GateRates, OneFigureWithoutToleranceAlarmsAsOftenAsPromised) {
  for (const std::size_t runs : {2U, 3U, 5U}) {
    const int alarms = failures(step_time_alone(), {.runs = runs}, 7 + runs);
    RecordProperty("alarms_of_400_with_" + std::to_string(runs) + "_runs", alarms);
    EXPECT_LE(alarms, 27) << runs;
  }
}

TEST(GateRates, TheDefaultPolicyAlarmsInAtMostOneOfAHundred) {
  for (const std::size_t runs : {2U, 3U, 5U}) {
    const int alarms = failures(analyzer::default_policy(), {.runs = runs}, 70 + runs);
    RecordProperty("alarms_of_400_with_" + std::to_string(runs) + "_runs", alarms);
    EXPECT_LE(alarms, 4) << runs;
  }
}

}  // namespace
}  // namespace lockstep::accuracy

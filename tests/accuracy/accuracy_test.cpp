// The suite itself: what it simulates is what it says, and what it counts is right. A small part of the
// table, where there is no room for chance.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/test_analysis.h"
#include "tests/accuracy/noise.h"
#include "tests/accuracy/rates.h"
#include "tests/accuracy/simulate.h"
#include "tests/accuracy/suite.h"
#include "tests/accuracy/verdict.h"
#include "tests/temporary_folder.h"

namespace lockstep::accuracy {
namespace {

using testing::HasSubstr;

// Ranks that never differ.
NoiseRecording silence() {
  NoiseRecording recording;
  recording.name = "silence";
  recording.rows = {std::vector<StepNoise>(kBlockSteps, {0.9, 0.05, 0.05, 1})};
  recording.typical = {0.9, 0.05, 0.05, 1};
  return recording;
}

analyzer::Report report_of(const Plan& plan, const NoiseRecording& noise) {
  return analyzer::checked_analysis(simulate(plan, noise)).report;
}

TEST(Rates, BoundsAreThoseOfClopperAndPearson) {
  // None of n: 1 - 0.05^(1/n).
  EXPECT_NEAR(upper_bound(0, 10), 1 - std::pow(0.05, 0.1), 1e-9);
  EXPECT_NEAR(upper_bound(0, 500), 1 - std::pow(0.05, 1.0 / 500), 1e-9);
  EXPECT_EQ(upper_bound(7, 7), 1);
  EXPECT_NEAR(lower_bound(10, 10), std::pow(0.05, 0.1), 1e-9);
  // One of ten: (1-p)^10 + 10 p (1-p)^9 = 0.05.
  const double p = upper_bound(1, 10);
  EXPECT_NEAR(std::pow(1 - p, 10) + 10 * p * std::pow(1 - p, 9), 0.05, 1e-9);
}

// No job draws what another one drew, a few numbers later.
TEST(Random, StreamsOfJobsShareNothing) {
  std::set<std::uint64_t> drawn;
  for (std::int64_t index = 0; index < 50; ++index) {
    Random random = Random::of_job(1, index);
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(drawn.insert(random.next()).second) << "job " << index;
  }
}

class Recordings : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& text) { return folder_.write("a.csv", text); }
  test::TemporaryFolder folder_;
};

TEST_F(Recordings, AreRelativeToEachRanksOwnMedian) {
  std::string text = "# two ranks\nrank,step,compute_ns,loading_ns,other_ns,transfer_ns\n";
  for (int step = 0; step < 51; ++step) {
    const int longer = step % 3 - 1;  // -1, 0, 1: the median is 0
    text += "0," + std::to_string(step) + "," + std::to_string(80 + 10 * longer) + ",10,10,7\n";
    text += "1," + std::to_string(step) + "," + std::to_string(2 * (80 + 10 * longer)) + ",20,20,7\n";
  }
  const Result<NoiseRecording> read = read_noise(file(text));
  ASSERT_TRUE(read.ok()) << read.error().message;
  const NoiseRecording& recording = read.value();
  EXPECT_EQ(recording.description, "two ranks");
  ASSERT_EQ(recording.rows.size(), 2u);
  for (const std::vector<StepNoise>& row : recording.rows) {
    EXPECT_DOUBLE_EQ(row[0].own(), 0.9);
    EXPECT_DOUBLE_EQ(row[1].own(), 1);
    EXPECT_DOUBLE_EQ(row[2].own(), 1.1);
    EXPECT_DOUBLE_EQ(row[2].transfer, 1);
  }
  EXPECT_NEAR(recording.level, 0.1 * std::sqrt(2.0 / 3), 1e-12);
  EXPECT_NEAR(scale_for(recording, 0.02), 0.02 / recording.level, 1e-12);
  EXPECT_EQ(scale_for(recording, 0.5), 1);
  EXPECT_EQ(scale_for(recording, 0), 1);
}

TEST_F(Recordings, AreDrawnInBlocksAndScaledAroundTheTypicalStep) {
  std::string text = "rank,step,compute_ns,loading_ns,other_ns,transfer_ns\n";
  for (int step = 0; step < 101; ++step)
    text += "0," + std::to_string(step) + "," + std::to_string(950 + step) + ",0,0,1\n";
  const NoiseRecording recording = read_noise(file(text)).value();
  RankNoise whole(recording, 3, 1, 3 * kBlockSteps), half(recording, 3, 0.5, 3 * kBlockSteps);
  std::vector<double> owns;
  for (std::size_t step = 0; step < 3 * kBlockSteps; ++step) {
    owns.push_back(whole.next().own());
    EXPECT_NEAR(half.next().own(), 1 + (owns.back() - 1) / 2, 1e-12);
  }
  // Within a block every step is the same bit longer than the one before.
  for (std::size_t step = 2; step < kBlockSteps; ++step)
    EXPECT_NEAR(owns[step] - owns[step - 1], owns[1] - owns[0], 1e-12) << step;
}

// A block that was slower throughout makes no slow rank of a job that is no longer than the block.
TEST_F(Recordings, AreLevelWithTheMedianOfTheJob) {
  std::string text = "rank,step,compute_ns,loading_ns,other_ns,transfer_ns\n";
  for (int step = 0; step < 200; ++step)
    text += "0," + std::to_string(step) + "," + std::to_string(step < 100 ? 1000 : 2000) + ",0,0,1\n";
  const NoiseRecording recording = read_noise(file(text)).value();
  int level = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RankNoise rank(recording, seed, 1, 20);
    for (int step = 0; step < 20; ++step) level += std::abs(rank.next().own() - 1) < 1e-9 ? 1 : 0;
  }
  EXPECT_GT(level, 19 * 20);  // but for a block that holds the change
}

TEST_F(Recordings, ThatAreBrokenAreRefusedWithFileAndLine) {
  EXPECT_THAT(read_noise(folder_.path() / "none.csv").error().message, HasSubstr("none.csv: cannot be read"));
  EXPECT_THAT(read_noise(file("rank,step\n0,1,2\n")).error().message,
              HasSubstr("a.csv:2: expected rank,step"));
  EXPECT_THAT(read_noise(file("0,1,-5,0,0,0\n")).error().message, HasSubstr("a.csv:1"));
  EXPECT_THAT(read_noise(file("0,1,5,0,0,0\n")).error().message, HasSubstr("rank 0 has 1 steps"));
  EXPECT_THAT(read_noise(file("# nothing\n")).error().message, HasSubstr("holds no steps"));
}

// What was planted is in the measures, and nothing else: 10 % of 100 ms, in each of 20 steps.
TEST(Simulation, PlantsWhatItSays) {
  const NoiseRecording noise = silence();
  const std::int64_t planted = 20 * 10'000'000;
  for (const Platform platform : {Platform::gpu, Platform::cpu}) {
    Plan plan{.ranks = 4, .steps = 20, .platform = platform, .effect = 0.1, .slow_rank = 2, .seed = 1};
    const auto difference = [&](Fault fault, auto measure) {
      plan.fault = fault;
      const analyzer::Report report = report_of(plan, noise);
      return measure(report.ranks.at(2).measures) - measure(report.ranks.at(1).measures);
    };
    const auto computed = [](const analyzer::Measures& measures) { return measures.compute_ns; };
    const auto loaded = [](const analyzer::Measures& m) { return m.partition[analyzer::Cause::data_wait]; };
    const auto host = [](const analyzer::Measures& m) { return m.partition[analyzer::Cause::host_bound]; };
    const auto moved = [](const analyzer::Measures& m) { return m.partition[analyzer::Cause::transfer]; };
    constexpr double kMillisecond = 1e6;
    for (const Fault fault : {Fault::compute, Fault::growing, Fault::periodic})
      EXPECT_NEAR(static_cast<double>(difference(fault, computed)), planted, kMillisecond)
          << to_string(fault);
    EXPECT_NEAR(static_cast<double>(difference(Fault::none, computed)), 0, kMillisecond);
    // The whole window begins with the first step's first computation: its loading and its launch lie before.
    EXPECT_NEAR(static_cast<double>(difference(Fault::loader, loaded)), planted / 20 * 19, kMillisecond);
    EXPECT_NEAR(static_cast<double>(difference(Fault::host, host)), planted / 20 * 19, kMillisecond);
    // Compute hides all but a step's last transfer: what the link costs is in that one.
    EXPECT_NEAR(static_cast<double>(difference(Fault::link, moved)), planted, kMillisecond);
  }
}

TEST(Simulation, OfTheSamePlanIsTheSame) {
  const NoiseRecording noise = silence();
  const Plan plan{.ranks = 2, .steps = 5, .seed = 7};
  const analyzer::Job once = simulate(plan, noise), again = simulate(plan, noise);
  ASSERT_EQ(once.ranks[1].activities.size(), again.ranks[1].activities.size());
  for (std::size_t row = 0; row < once.ranks[1].activities.size(); ++row)
    EXPECT_EQ(once.ranks[1].activities[row].end, again.ranks[1].activities[row].end);
}

TEST(Suite, AccusesNobodyWhereNobodyDiffers) {
  const Result<CellResult> result =
      run_cell({.ranks = 8, .steps = 50, .jobs = 4}, 1, {silence()}, 1, analyzer::expect_invariants);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result.value().jobs, 4);
  EXPECT_EQ(result.value().accused, 0) << testing::PrintToString(result.value().examples);
}

TEST(Suite, FindsARankThatComputesAFifthLonger) {
  const Cell cell{.ranks = 8, .steps = 50, .fault = Fault::compute, .effect = 0.2, .jobs = 4};
  const Result<CellResult> result = run_cell(cell, 1, {silence()}, 1, analyzer::expect_invariants);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result.value().found, 4);
  EXPECT_EQ(result.value().accused, 0) << testing::PrintToString(result.value().examples);
}

TEST(Verdicts, AreOfTheRightRankAndTheRightCause) {
  analyzer::Report report;
  analyzer::Finding finding;
  finding.code = "straggler_persistent";
  finding.title = "rank 3 computes 18 % longer than the others";
  finding.rank = 3;
  finding.accuses = analyzer::Accused::rank;
  report.findings = {finding};
  EXPECT_TRUE(judge(report, Fault::compute, 3).cause_named);
  EXPECT_TRUE(judge(report, Fault::loader, 3).found);
  EXPECT_FALSE(judge(report, Fault::loader, 3).cause_named);
  EXPECT_FALSE(judge(report, Fault::compute, 2).found);
  EXPECT_EQ(judge(report, Fault::compute, 2).wrongly_accused, 1);
  EXPECT_EQ(judge(report, Fault::none, 0).wrongly_accused, 1);
  EXPECT_EQ(judge(report, Fault::changing, 3).wrongly_accused, 1);
}

}  // namespace
}  // namespace lockstep::accuracy

// What the analyzer says of planted faults: every scenario of scripts/scenario, run as a user runs it, and
// the report held against what was planted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "reference_trainer/faults/fault_plan.h"
#include "tests/end_to_end/support.h"

namespace lockstep::trainer {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

constexpr int kRanks = 4;
constexpr int kSteps = 12;

class Scenario : public testing::Test {
 protected:
  void run(const std::string& name) {
    const auto outcome = end_to_end::run(
        {LOCKSTEP_SOURCE_DIR "/scripts/scenario", name, "--bin", LOCKSTEP_BIN_DIR, "-o", folder_ / "out"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_output << outcome.standard_error;
  }
  json report(const std::string& label = "run") const {
    return json::parse(std::ifstream(folder_ / ("out/" + label + ".json")));
  }
  std::string file(const std::string& name) const {
    std::ifstream stream(folder_ / ("out/" + name));
    return {std::istreambuf_iterator<char>(stream), {}};
  }

 private:
  end_to_end::TemporaryFolder folder_;
};

std::vector<std::string> codes(const json& report) {
  std::vector<std::string> all;
  for (const json& finding : report.at("findings")) all.push_back(finding.at("code"));
  return all;
}

json finding(const json& report, const std::string& code) {
  for (const json& finding : report.at("findings"))
    if (finding.at("code") == code) return finding;
  ADD_FAILURE() << "no finding " << code << " among " << report.at("findings").dump(2);
  return {};
}

// Shares of the waiting that each rank is blamed for.
std::vector<double> blame_shares(const json& report) {
  std::vector<double> shares(kRanks);
  double sum = 0;
  for (const json& blame : report.at("blame")) sum += blame.at("blame_ns").get<double>();
  for (const json& blame : report.at("blame"))
    shares[blame.at("rank").get<std::size_t>()] = blame.at("blame_ns").get<double>() / sum;
  return shares;
}

void expect_persistent_straggler(const json& report, int rank, const std::string& reason) {
  const json& first = report.at("blame").at(0);
  EXPECT_EQ(first.at("rank"), rank);
  EXPECT_EQ(first.at("persistent"), true);
  EXPECT_THAT(first.at("root_cause").get<std::string>(), HasSubstr(reason));
  EXPECT_THAT(finding(report, "straggler_persistent").at("title").get<std::string>(),
              HasSubstr("rank " + std::to_string(rank)));
}

// Of all steps, of one rank.
std::int64_t partition(const json& report, int rank, const std::string& cause) {
  return report.at("ranks").at(static_cast<std::size_t>(rank)).at("partition").at(cause);
}

// Of all communication of all ranks, the share under compute.
double overlap(const json& report) {
  double hidden = 0, all = 0;
  for (const json& rank : report.at("ranks")) {
    hidden += rank.at("overlap_ns").get<double>();
    all += rank.at("communication_ns").get<double>();
  }
  return hidden / all;
}

TEST_F(Scenario, SlowRankIsNamedAndComputes) {
  ASSERT_NO_FATAL_FAILURE(run("slow_rank"));
  expect_persistent_straggler(report(), 2, "it computed for");
}

TEST_F(Scenario, SlowLoaderIsNamedAndWaitsForData) {
  ASSERT_NO_FATAL_FAILURE(run("slow_loader"));
  const json report = this->report();
  expect_persistent_straggler(report, 1, "waited for data loading");
  finding(report, "data_loading");
  EXPECT_GE(partition(report, 1, "data_wait"), 10 * 60'000'000);  // 60 ms in each of 12 steps
}

TEST_F(Scenario, DelayedLaunchesAreIdleTimeOfTheirRank) {
  ASSERT_NO_FATAL_FAILURE(run("delayed_launch"));
  const json report = this->report();
  expect_persistent_straggler(report, 3, "did what the trace does not name");
  finding(report, "idle_between_computations");
}

TEST_F(Scenario, PausesAreIdleTimeOfEveryRank) {
  ASSERT_NO_FATAL_FAILURE(run("pause"));
  const json report = this->report();
  finding(report, "idle_between_computations");
  for (int rank = 0; rank < kRanks; ++rank)
    EXPECT_GE(partition(report, rank, "host_bound"), kSteps / 2 * 60'000'000) << "rank " << rank;
}

// The lengths of the samples follow from the seed, and with them who is waited for how long.
TEST_F(Scenario, UnevenBatchesHoldUpEveryoneInTurn) {
  ASSERT_NO_FATAL_FAILURE(run("uneven_batch"));
  const json report = this->report();
  finding(report, "imbalance");
  const FaultPlan plan({parse_fault("uneven_batch:factor=4").value()}, /*seed=*/16);
  std::vector<double> expected(kRanks);
  double sum = 0;
  for (int step = 1; step <= kSteps; ++step) {
    std::vector<double> lengths;
    for (int rank = 0; rank < kRanks; ++rank) lengths.push_back(plan.batch_factor(rank, step, 0, 1));
    const auto longest = std::max_element(lengths.begin(), lengths.end());
    for (const double length : lengths) {
      expected[static_cast<std::size_t>(longest - lengths.begin())] += *longest - length;
      sum += *longest - length;
    }
  }
  for (std::size_t rank = 0; rank < kRanks; ++rank)
    EXPECT_NEAR(blame_shares(report)[rank], expected[rank] / sum, 0.12) << "rank " << rank;
  EXPECT_THAT(report.at("blame").at(0).at("root_cause").get<std::string>(), HasSubstr("it computed for"));
}

// That both ends of the link take part longest is known; which link it is, nobody says yet.
TEST_F(Scenario, SlowLinkIsWaitedForAtItsEnds) {
  ASSERT_NO_FATAL_FAILURE(run("slow_link"));
  const json report = this->report();
  finding(report, "exposed_transfer");
  const std::vector<double> shares = blame_shares(report);
  EXPECT_GT(shares[2] + shares[3], 0.75);  // rank 2 sends to rank 3 around the ring
}

TEST_F(Scenario, WhoLeavesOutACollectiveHasNoRecordOfIt) {
  ASSERT_NO_FATAL_FAILURE(run("skip_collective"));
  EXPECT_THAT(file("run.log"), AllOf(HasSubstr("Timed out"), HasSubstr("all_gather root")));
  const json report = this->report();
  std::vector<std::string> warnings;
  for (const json& warning : report.at("warnings")) warnings.push_back(warning.at("code"));
  EXPECT_THAT(warnings, Contains("records_missing"));
  std::vector<std::set<int>> present;  // in the operations that lack somebody
  for (const json& collective : report.at("collectives")) {
    if (!collective.at("partial").get<bool>()) continue;
    present.emplace_back();
    for (const json& rank : collective.at("ranks")) present.back().insert(rank.at("rank").get<int>());
  }
  EXPECT_THAT(present, Contains(UnorderedElementsAre(0, 2, 3)));
}

TEST_F(Scenario, OneLargeBucketHidesLessThanSmallOnes) {
  ASSERT_NO_FATAL_FAILURE(run("ddp_buckets"));
  EXPECT_THAT(codes(report("one_bucket")), Contains("buckets_too_large"));
  EXPECT_THAT(codes(report("small_buckets")), Not(Contains("buckets_too_large")));
  EXPECT_LT(overlap(report("one_bucket")), 0.2);
  EXPECT_GT(overlap(report("small_buckets")), 0.35);
}

TEST_F(Scenario, GatheringAheadHidesWhatGatheringInTimeCannot) {
  ASSERT_NO_FATAL_FAILURE(run("fsdp_prefetch"));
  EXPECT_THAT(codes(report("none")), Contains("no_overlap"));
  EXPECT_THAT(codes(report("pre")), Not(Contains("no_overlap")));
  EXPECT_LT(overlap(report("none")), 0.05);
  EXPECT_GT(overlap(report("pre")), 0.3);
}

TEST(ScenarioScript, ListsWhatItKnowsAndRefusesWhatItDoesNot) {
  const std::string script = LOCKSTEP_SOURCE_DIR "/scripts/scenario";
  const auto list = end_to_end::run({script, "--list"});
  EXPECT_EQ(list.exit_code, 0);
  for (int kind = 0; kind < kFaultKinds; ++kind)
    EXPECT_THAT(list.standard_output, HasSubstr(to_string(static_cast<FaultKind>(kind))));
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{script},
                                                {script, "no_such"},
                                                {script, "--frobnicate"},
                                                {script, "pause", "-o"}})
    EXPECT_EQ(end_to_end::run(wrong).exit_code, 2) << wrong.back();
  EXPECT_EQ(end_to_end::run({script, "pause", "--bin", "/no/such"}).exit_code, 1);
}

}  // namespace
}  // namespace lockstep::trainer

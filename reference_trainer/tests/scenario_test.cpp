// What the analyzer says of planted faults: every scenario of scripts/scenario, run as a user runs it, and
// the report held against what was planted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "reference_trainer/faults/fault_plan.h"
#include "tests/end_to_end/report_sums.h"
#include "tests/end_to_end/support.h"

namespace lockstep::trainer {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::AnyOf;
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
    constexpr int kNotHere = 77;
    if (outcome.exit_code == kNotHere) GTEST_SKIP() << outcome.standard_error;
    ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_output << outcome.standard_error;
  }
  json report(const std::string& label = "run") const {
    const std::string text = file(label + ".json");
    end_to_end::require_exact_sums(text);
    return json::parse(text);
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
  // On a loaded machine the first steps may be slow for all, and the rank be late from a step behind them on.
  const std::vector<std::string> found = codes(report);
  const bool since = std::find(found.begin(), found.end(), "straggler_persistent") == found.end();
  EXPECT_THAT(
      finding(report, since ? "straggler_since" : "straggler_persistent").at("title").get<std::string>(),
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

TEST_F(Scenario, SlowStageIsNamedInItsPipeline) {
  ASSERT_NO_FATAL_FAILURE(run("slow_stage"));
  const json report = this->report();
  expect_persistent_straggler(report, 1, "it computed for");
}

TEST_F(Scenario, SlowLoaderIsNamedAndWaitsForData) {
  ASSERT_NO_FATAL_FAILURE(run("slow_loader"));
  const json report = this->report();
  expect_persistent_straggler(report, 1, "waited for data loading");
  EXPECT_GE(partition(report, 1, "data_wait"), 10 * 60'000'000);  // 60 ms in each of 12 steps
}

TEST_F(Scenario, DelayedLaunchesAreIdleTimeOfTheirRank) {
  ASSERT_NO_FATAL_FAILURE(run("delayed_launch"));
  const json report = this->report();
  expect_persistent_straggler(report, 3, "its device idled with nothing launched");
  // 8 ms before each of the step's 12 passes at least.
  EXPECT_GE(partition(report, 3, "host_bound"), kSteps / 2 * 12 * 8'000'000);
}

TEST_F(Scenario, PausesAreIdleTimeOfEveryRank) {
  ASSERT_NO_FATAL_FAILURE(run("pause"));
  const json report = this->report();
  EXPECT_GT(report.at("blame").size(), 2u);
  for (int rank = 0; rank < kRanks; ++rank)
    EXPECT_GE(partition(report, rank, "host_bound"), kSteps / 2 * 60'000'000) << "rank " << rank;
}

// The lengths of the samples follow from the seed, and with them who is waited for how long.
TEST_F(Scenario, UnevenBatchesHoldUpEveryoneInTurn) {
  ASSERT_NO_FATAL_FAILURE(run("uneven_batch"));
  const json report = this->report();
  finding(report, "uneven_batches");
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
    EXPECT_NEAR(blame_shares(report)[rank], expected[rank] / sum, 0.15) << "rank " << rank;
  EXPECT_THAT(report.at("blame").at(0).at("root_cause").get<std::string>(), HasSubstr("it computed for"));
}

// A rank at an end of the link is late by it, and is not called slow.
TEST_F(Scenario, SlowLinkIsWaitedForAtItsEnds) {
  ASSERT_NO_FATAL_FAILURE(run("slow_link"));
  const json report = this->report();
  finding(report, "exposed_transfer");
  const std::vector<double> shares = blame_shares(report);
  EXPECT_GT(shares[2] + shares[3], 0.6);  // rank 2 sends to rank 3 around the ring
  // Which of the two is later by a little is the machine's doing.
  EXPECT_THAT(finding(report, "slow_link_of_rank").at("title").get<std::string>(),
              AnyOf(HasSubstr("rank 2 is late"), HasSubstr("rank 3 is late")));
  for (const std::string& code : codes(report)) EXPECT_THAT(code, Not(HasSubstr("straggler")));
}

// All time out at about the same moment; whoever is first has the others ended before they may have written
// their last records. The first one's tell enough: rank 1 is not in the operation that the others wait in,
// and alone in the next one.
TEST_F(Scenario, WhoLeavesOutACollectiveHasNoRecordOfIt) {
  ASSERT_NO_FATAL_FAILURE(run("skip_collective"));
  EXPECT_THAT(file("run.log"), AllOf(HasSubstr("Timed out"), HasSubstr(" of group fsdp)")));
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
  ASSERT_FALSE(present.empty());
  for (const std::set<int>& ranks : present)
    EXPECT_TRUE(ranks == std::set{1} || !ranks.contains(1)) << "rank 1 met others after it had left one out";
}

TEST_F(Scenario, OneLargeBucketHidesLessThanSmallOnes) {
  ASSERT_NO_FATAL_FAILURE(run("ddp_buckets"));
  EXPECT_THAT(codes(report("one_bucket")), Contains("buckets_too_large"));
  EXPECT_THAT(codes(report("small_buckets")), Not(Contains("buckets_too_large")));
  // How much small ones hide depends on who else wants the two cores; that it is far more does not.
  EXPECT_LT(overlap(report("one_bucket")), 0.2);
  EXPECT_GT(overlap(report("small_buckets")), 2 * overlap(report("one_bucket")));
}

TEST_F(Scenario, GatheringAheadHidesWhatGatheringInTimeCannot) {
  ASSERT_NO_FATAL_FAILURE(run("fsdp_prefetch"));
  EXPECT_THAT(codes(report("none")), Contains("prefetch_off"));
  EXPECT_THAT(codes(report("pre")), Not(Contains("prefetch_off")));
  EXPECT_LT(overlap(report("none")), 0.05);
  EXPECT_GT(overlap(report("pre")), 0.3);
}

// No schedule has less idle time than its ideal: (p − 1)/(v·m + p − 1) for p stages, m microbatches and v
// chunks.
TEST_F(Scenario, SchedulesLeaveTheBubbleThatTheoryHas) {
  ASSERT_NO_FATAL_FAILURE(run("pipeline_schedules"));
  constexpr double kStages = 4, kMicrobatches = 8;
  std::map<std::string, double> idle;
  for (const auto& [schedule, chunks] :
       std::map<std::string, double>{{"gpipe", 1}, {"1f1b", 1}, {"interleaved", 2}}) {
    double compute = 0, window = 0;
    const json report = this->report(schedule);
    for (const json& step : report.at("steps")) {
      compute += step.at("partition").at("compute").get<double>();
      window += step.at("window_ns").get<double>();
    }
    idle[schedule] = 1 - compute / window;
    EXPECT_GT(idle[schedule], (kStages - 1) / (chunks * kMicrobatches + kStages - 1) - 0.01) << schedule;
  }
  EXPECT_LT(idle["interleaved"], idle["1f1b"]);
  EXPECT_LT(idle["interleaved"], idle["gpipe"]);
}

// What the ranks of a ring send in all: (n − 1) times the bytes of an all-gather or reduce-scatter, twice
// that of an all-reduce; a broadcast reaches n − 1.
double bytes_sent(const json& collective) {
  const double others = static_cast<double>(collective.at("group").at("ranks").size()) - 1;
  const double bytes = collective.at("bytes").is_null() ? 0 : collective.at("bytes").get<double>();
  return (collective.at("operation") == "all_reduce" ? 2 : 1) * others * bytes;
}

double bytes_counted(const std::string& counters) {
  std::istringstream lines(counters);
  std::string node, interface;
  double sum = 0, sent = 0, received = 0;
  while (lines >> node >> interface >> sent >> received) sum += sent;
  return sum;
}

// The same bytes on every machine; no step is shorter than the wire needs for its own.
TEST_F(Scenario, TopologyDecidesWhatTheSameBytesCost) {
  ASSERT_NO_FATAL_FAILURE(run("topology"));
  if (IsSkipped()) return;
  const std::map<std::string, double> megabits{{"one_node", 0}, {"fast_links", 200}, {"slow_links", 50}};
  std::set<double> totals;
  for (const auto& [label, rate] : megabits) {
    SCOPED_TRACE(label);
    const json report = this->report(label);
    double total = 0;
    std::map<int, double> of_step, window, exposed;
    for (const json& collective : report.at("collectives")) {
      total += bytes_sent(collective);
      if (!collective.at("step").is_null())
        of_step[collective.at("step").get<int>()] += bytes_sent(collective);
    }
    totals.insert(total);
    const double counted = bytes_counted(file(label + ".counters"));
    EXPECT_GT(counted, total);         // headers come on top
    EXPECT_LT(counted, 1.15 * total);  // and nothing else does
    if (rate == 0) continue;
    for (const json& step : report.at("steps")) {
      const int number = step.at("step");
      window[number] = std::max(window[number], step.at("window_ns").get<double>());
      exposed[number] += (step.at("exposed_communication_ns").get<double>() +
                          step.at("partition").at("compute").get<double>()) /
                         kRanks;
    }
    for (const auto& [step, bytes] : of_step) {
      const double wire_ns = bytes / kRanks * 8 / (rate * 1e6) * 1e9;
      EXPECT_GT(window.at(step), 0.8 * wire_ns) << "step " << step;
      EXPECT_GT(exposed.at(step), 0.8 * wire_ns) << "step " << step;  // with the compute that hides the rest
    }
    std::set<std::string> hosts;
    for (const json& rank : report.at("ranks")) hosts.insert(rank.at("host").get<std::string>());
    EXPECT_THAT(hosts, UnorderedElementsAre("node0", "node1", "node2", "node3"));
  }
  EXPECT_EQ(totals.size(), 1u);

  // The slow links hold compute up, and the report says which and what they carry: less than they can.
  const std::string evidence = finding(report("slow_links"), "slow_link").at("evidence").dump();
  EXPECT_THAT(evidence, HasSubstr("between hosts node0, node1, node2, node3"));
  std::smatch carried;
  ASSERT_TRUE(std::regex_search(evidence, carried, std::regex(R"(\(([0-9.]+) Mbit/s\))"))) << evidence;
  EXPECT_LT(std::stod(carried[1]), 1.05 * megabits.at("slow_links"));
  EXPECT_GT(std::stod(carried[1]), 0.5 * megabits.at("slow_links"));
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

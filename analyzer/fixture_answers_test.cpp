// Small traces of our own, from files to the report, against answers that were computed without the analyzer
// (tests/fixtures/README.md). All times are exact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "analyzer/test_analyzed.h"
#include "tests/fixtures/fixtures.h"
#include "tests/temporary_folder.h"

namespace lockstep::analyzer {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class FixtureAnswers : public testing::TestWithParam<const char*> {
 protected:
  const Analyzed analyzed_ = analyzed_files({test::fixture(GetParam())});
  const Report& report_ = analyzed_.analysis.report;
  const json expected_ =
      json::parse(test::read_whole_file(test::fixture(std::string(GetParam()) + ".expected.json")));
};

std::int64_t number(const json& object, const char* key) {
  return object.at(key).get<std::int64_t>();
}

void expect_measures(const Measures& measures, const json& expected) {
  EXPECT_EQ(measures.window_ns, number(expected, "window_ns"));
  EXPECT_EQ(measures.compute_ns, number(expected, "compute_ns"));
  EXPECT_EQ(measures.communication_ns, number(expected, "communication_ns"));
  EXPECT_EQ(measures.overlap_ns, number(expected, "overlap_ns"));
  EXPECT_EQ(measures.exposed_communication_ns, number(expected, "exposed_communication_ns"));
  EXPECT_EQ(measures.collective_wait_ns, number(expected, "collective_wait_ns"));
  EXPECT_EQ(measures.hidden_collective_wait_ns, number(expected, "hidden_collective_wait_ns"));
  for (std::size_t i = 0; i < kCauseCount; ++i) {
    const char* cause = to_string(static_cast<Cause>(i));
    EXPECT_EQ(measures.partition.ns[i], number(expected.at("partition"), cause)) << cause;
  }
}

TEST_P(FixtureAnswers, OfEachRank) {
  expect_exact_partitions(analyzed_.analysis);
  ASSERT_EQ(report_.ranks.size(), expected_.at("ranks").size());
  for (std::size_t i = 0; i < report_.ranks.size(); ++i) {
    SCOPED_TRACE(i);
    const RankReport& rank = report_.ranks[i];
    const json& expected = expected_.at("ranks").at(i);
    EXPECT_EQ(rank.rank, number(expected, "rank"));
    EXPECT_EQ(rank.activities.compute, number(expected.at("activities"), "compute"));
    EXPECT_EQ(rank.activities.collective, number(expected.at("activities"), "communication"));
    EXPECT_EQ(rank.activities.copy, number(expected.at("activities"), "copy"));
    expect_measures(rank.measures, expected);
  }
}

TEST_P(FixtureAnswers, OfEachStep) {
  ASSERT_EQ(report_.steps.size(), expected_.at("steps").size());
  for (std::size_t i = 0; i < report_.steps.size(); ++i) {
    SCOPED_TRACE(i);
    const StepReport& step = report_.steps[i];
    EXPECT_EQ(step.step, number(expected_.at("steps").at(i), "step"));
    EXPECT_EQ(step.rank, number(expected_.at("steps").at(i), "rank"));
    expect_measures(step.measures, expected_.at("steps").at(i));
  }
}

std::int64_t spread(const CollectiveReport& collective, std::int64_t CollectiveRank::*time) {
  const auto [first, last] =
      std::minmax_element(collective.ranks.begin(), collective.ranks.end(),
                          [time](const auto& a, const auto& b) { return a.*time < b.*time; });
  return (*last).*time - (*first).*time;
}

TEST_P(FixtureAnswers, OfEachCollective) {
  EXPECT_EQ(report_.unmatched, 0);
  ASSERT_EQ(report_.collectives.size(), expected_.at("collectives").size());
  for (std::size_t i = 0; i < report_.collectives.size(); ++i) {
    SCOPED_TRACE(i);
    const CollectiveReport& collective = report_.collectives[i];
    const json& expected = expected_.at("collectives").at(i);
    EXPECT_EQ(to_string(collective.operation), expected.at("operation").get<std::string>());
    EXPECT_EQ(collective.bytes.has_value(), !expected.at("bytes").is_null());
    if (collective.bytes && !expected.at("bytes").is_null()) {
      EXPECT_EQ(*collective.bytes, number(expected, "bytes"));
    }
    EXPECT_EQ(collective.last_arriver.value_or(-1), number(expected, "last_arriver"));
    EXPECT_EQ(spread(collective, &CollectiveRank::arrival_ns), number(expected, "start_skew_ns"));
    EXPECT_EQ(spread(collective, &CollectiveRank::end_ns), number(expected, "end_skew_ns"));
    EXPECT_EQ(collective.wait_ns, number(expected, "wait_ns"));
    EXPECT_FALSE(collective.partial);
    ASSERT_EQ(collective.ranks.size(), expected.at("ranks").size());
    for (std::size_t j = 0; j < collective.ranks.size(); ++j) {
      EXPECT_EQ(collective.ranks[j].rank, number(expected.at("ranks").at(j), "rank"));
      EXPECT_EQ(collective.ranks[j].wait_ns, number(expected.at("ranks").at(j), "wait_ns"));
      EXPECT_EQ(collective.ranks[j].transfer_ns, number(expected.at("ranks").at(j), "transfer_ns"));
    }
  }
}

std::string underscored(const testing::TestParamInfo<const char*>& fixture) {
  std::string name = fixture.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Of, FixtureAnswers, testing::Values("gpu-4rank", "cpu-2rank", "nsys-2gpu"),
                         underscored);

// One rank computes longer, another one loads its data late in a step: as the jobs were made up.
TEST(FixtureCauses, AreThosePlanted) {
  const struct {
    const char* name;
    std::int32_t slow, loads;
  } jobs[] = {{"gpu-4rank", 3, 1}, {"nsys-2gpu", 0, 1}};
  for (const auto& job : jobs) {
    SCOPED_TRACE(job.name);
    const Analyzed analyzed = analyzed_files({test::fixture(job.name)});
    const std::vector<BlameReport>& blame = analyzed.analysis.report.blame;
    ASSERT_EQ(blame.size(), 2u);
    EXPECT_EQ(blame[0].rank, job.slow);
    EXPECT_THAT(blame[0].root_cause, HasSubstr("gemm_backward"));
    EXPECT_EQ(blame[1].rank, job.loads);
    EXPECT_THAT(blame[1].root_cause, HasSubstr("data loading"));
  }
}

}  // namespace
}  // namespace lockstep::analyzer

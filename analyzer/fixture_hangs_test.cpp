// Flight recorders' dumps of a job of our own in which rank 2 left out an all-reduce
// (tests/fixtures/README.md), whole and as they often are collected: without one of them, or with one cut.
// Whoever came is never accused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/test_analyzed.h"
#include "tests/fixtures/fixtures.h"
#include "tests/temporary_folder.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr int kRanks = 4, kCulprit = 2;
const char* const kHang = "the job hung in gloo:all_reduce (group data parallel, number 5): ";

std::string folder_of(const std::string& kind) {
  return test::fixture("flight-recorder-" + kind + "/");
}
std::string dump_name(int rank) {
  return "nccl_trace_rank_" + std::to_string(rank);
}

class FixtureHang : public testing::TestWithParam<const char*> {};

TEST_P(FixtureHang, NamesWhoNeverCame) {
  const Analyzed result = analyzed_files({folder_of(GetParam())});
  EXPECT_THAT(result.job.ranks, SizeIs(kRanks));
  EXPECT_THAT(titles_of(result.analysis.report, "hang"),
              ElementsAre(std::string(kHang) + "rank 2 never came"));
  for (const RankReport& rank : result.analysis.report.ranks)
    EXPECT_EQ(rank.measures.overlap_ratio, std::nullopt) << "nobody wrote down what was computed";
}

INSTANTIATE_TEST_SUITE_P(In, FixtureHang, testing::Values("pickle", "json"));

// What ended has no times there: without the counters it is known all the same.
TEST(FixtureHangs, WhatWhoNeverCameEndedIsToldWithoutCounters) {
  const test::TemporaryFolder folder;
  for (int rank = 0; rank < kRanks; ++rank) {
    std::string dump = test::read_whole_file(folder_of("json") + dump_name(rank));
    const std::string counters = "\"pg_status\"";
    const std::size_t at = dump.find(counters);
    ASSERT_NE(at, std::string::npos);
    (void)folder.write(dump_name(rank), dump.replace(at, counters.size(), "\"no_status\""));
  }
  const Analyzed result = analyzed_files({folder.path().string()});
  const std::vector<Finding>& findings = result.analysis.report.findings;
  const auto hang =
      std::find_if(findings.begin(), findings.end(), [](const Finding& one) { return one.code == "hang"; });
  ASSERT_NE(hang, findings.end());
  EXPECT_EQ(hang->title, std::string(kHang) + "rank 2 never came");
  EXPECT_THAT(hang->evidence,
              testing::Contains(testing::StartsWith("rank 2 ended gloo:broadcast number 4 before")));
}

class FixtureDump : public testing::TestWithParam<std::tuple<const char*, int>> {
 protected:
  std::string folder() const { return folder_of(std::get<0>(GetParam())); }
  int rank() const { return std::get<1>(GetParam()); }
  std::vector<std::string> others() const {
    std::vector<std::string> paths;
    for (int other = 0; other < kRanks; ++other)
      if (other != rank()) paths.push_back(folder() + dump_name(other));
    return paths;
  }
  // Of the culprit's dump, if it is the one that is missing or cut, nobody knows whether it came.
  void expect_no_innocent_accused(const std::vector<std::string>& paths) const {
    const std::vector<std::string> hangs = titles_of(analyzed_files(paths).analysis.report, "hang");
    ASSERT_THAT(hangs, SizeIs(1));
    EXPECT_THAT(hangs[0], HasSubstr(kHang));
    if (rank() != kCulprit || hangs[0].find("never came") != std::string::npos) {
      EXPECT_THAT(hangs[0], HasSubstr("rank 2 never came"));
    }
  }
};

TEST_P(FixtureDump, Missing) {
  expect_no_innocent_accused(others());
}

TEST_P(FixtureDump, CutAtManyLengths) {
  const std::string whole = test::read_whole_file(folder() + dump_name(rank()));
  ASSERT_GT(whole.size(), 1000U);
  const test::TemporaryFolder cut;
  std::vector<std::string> paths = others();
  paths.push_back(cut / dump_name(rank()));
  // From the first bytes, by which the file is a dump at all, to the last but one.
  constexpr std::size_t kCuts = 20, kLeast = 200;
  for (std::size_t i = 0; i <= kCuts; ++i) {
    const std::size_t length = kLeast + (whole.size() - 1 - kLeast) * i / kCuts;
    SCOPED_TRACE(length);
    (void)cut.write(dump_name(rank()), whole.substr(0, length));
    expect_no_innocent_accused(paths);
  }
}

TEST_P(FixtureDump, AloneNamesNoCulprit) {
  for (const std::string& title :
       titles_of(analyzed_files({folder() + dump_name(rank())}).analysis.report, "hang"))
    EXPECT_EQ(title.find("never came"), std::string::npos) << title;
}

INSTANTIATE_TEST_SUITE_P(OfEachRank, FixtureDump,
                         testing::Combine(testing::Values("pickle", "json"), testing::Range(0, kRanks)));

}  // namespace
}  // namespace lockstep::analyzer

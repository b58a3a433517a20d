// A report of some ranks or of one group says of them what the whole report says.
#include "analyzer/restrict_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/analysis.h"
#include "analyzer/model/job_builder.h"
#include "analyzer/report/text.h"
#include "analyzer/test_analysis.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

// Four ranks, two steps: an all-reduce of all, for which rank 3 is late, and one of ranks 0 and 1 in "pair".
Report whole_report() {
  JobBuilder job;
  const std::uint32_t world = job.group("world", {0, 1, 2, 3}), pair = job.group("pair", {0, 1});
  for (int rank = 0; rank < 4; ++rank) {
    for (int step = 0; step < 2; ++step) {
      const Nanoseconds begin = 10'000 * step, end = begin + 1000 + (rank == 3 ? 5000 : 0);
      job.rank(rank).step(step, begin, begin + 9000);
      job.rank(rank).compute(begin, end).launched(begin, begin);
      job.rank(rank).all_reduce(end, begin + 7000).in_group(world).bytes(1000).launched(begin, begin);
      if (rank < 2)
        job.rank(rank)
            .all_reduce(begin + 7000 + 100 * rank, begin + 8000)
            .in_group(pair)
            .launched(begin, begin);
    }
  }
  return checked_analysis(job.build()).report;
}

TEST(RestrictReport, NothingAskedChangesNothing) {
  Report report = whole_report();
  const std::size_t collectives = report.collectives.size();
  ASSERT_TRUE(restrict_report({}, report).ok());
  EXPECT_EQ(report.collectives.size(), collectives);
  EXPECT_THAT(report.ranks, SizeIs(4));
}

TEST(RestrictReport, RanksKeepTheirFigures) {
  const Report whole = whole_report();
  Report part = whole;
  ASSERT_TRUE(restrict_report({.ranks = {{2, 3}}, .group = {}}, part).ok());
  ASSERT_THAT(part.ranks, SizeIs(2));
  EXPECT_EQ(part.ranks[0].rank, 2);
  ASSERT_THAT(part.account.ranks, SizeIs(2));
  EXPECT_EQ(part.account.spent.total(),
            part.account.ranks[0].spent.total() + part.account.ranks[1].spent.total());
  EXPECT_EQ(part.ranks[0].measures.collective_wait_ns, whole.ranks[2].measures.collective_wait_ns);
  EXPECT_THAT(part.steps, SizeIs(4));
  ASSERT_THAT(part.collectives, SizeIs(2)) << "the pair's are of others";
  EXPECT_THAT(part.collectives[0].ranks, SizeIs(4)) << "who was waited for stays";
  ASSERT_THAT(part.groups, SizeIs(1));
  EXPECT_EQ(part.groups[0].name, "world");
  ASSERT_THAT(part.wait_states, SizeIs(1));
  EXPECT_EQ(part.wait_states[0].wait_ns, 2 * 5000) << "of rank 2 alone: rank 3 waited for nobody";
  ASSERT_THAT(part.buckets, SizeIs(1));
  EXPECT_EQ(part.buckets[0].records, 4) << "two ranks, two steps";
  EXPECT_EQ(part.findings.size(), whole.findings.size());
  EXPECT_THAT(verdict_lines(whole), Contains(StartsWith("Ranks compute for")));
  EXPECT_THAT(verdict_lines(whole),
              Contains(StartsWith("In the 2 steps looked at the others wait for rank 3")));
  EXPECT_THAT(verdict_lines(part), Contains(StartsWith("The chosen ranks compute for")));
  EXPECT_THAT(verdict_lines(part),
              Contains(StartsWith("In the whole job, in the 2 steps looked at the others wait for rank 3")));
  Report early = whole;
  ASSERT_TRUE(restrict_report({.ranks = {{0, 1}}, .group = {}}, early).ok());
  ASSERT_FALSE(early.blame.empty());
  EXPECT_EQ(early.blame.front().rank, 3) << "whom they waited for stays said";
}

TEST(RestrictReport, AGroupKeepsItsCollectives) {
  Report part = whole_report();
  ASSERT_TRUE(restrict_report({.ranks = {}, .group = "pair"}, part).ok());
  EXPECT_THAT(part.ranks, SizeIs(4));
  EXPECT_THAT(part.collectives, SizeIs(2));
  EXPECT_THAT(part.collectives, Each(testing::Field(&CollectiveReport::group_name, "pair")));
  ASSERT_THAT(part.buckets, SizeIs(1));
  EXPECT_EQ(part.buckets[0].group_name, "pair");
  ASSERT_THAT(part.wait_states, SizeIs(1));
  EXPECT_EQ(part.wait_states[0].wait_ns, 2 * 100);
}

TEST(RestrictReport, WhatIsNotThereIsAnErrorThatSaysWhatIs) {
  Report report = whole_report();
  EXPECT_THAT(restrict_report({.ranks = {{0, 1}, {7, 7}}, .group = {}}, report).error().message,
              HasSubstr("rank 7: it has no trace; 4 ranks have, from 0 to 3"));
  EXPECT_THAT(restrict_report({.ranks = {{5, 9}}, .group = {}}, report).error().message,
              HasSubstr("ranks 5 to 9: none has a trace"));
  EXPECT_THAT(restrict_report({.ranks = {}, .group = "tp"}, report).error().message,
              HasSubstr("group \"tp\": nothing was done in it; the groups are \"pair\", \"world\""));
  EXPECT_THAT(report.ranks, SizeIs(4)) << "an error leaves the report as it was";
}

}  // namespace
}  // namespace lockstep::analyzer

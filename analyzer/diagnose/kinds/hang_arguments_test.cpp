// A collective that all have come to, and never ends, because they do not mean the same one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/hung_jobs.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

struct Waits {
  Operation operation = Operation::broadcast;
  std::int32_t root = kNoRank;
  std::int64_t bytes = -1;
  DataType data_type = DataType::unknown;
};

// After one all-reduce each rank stands in number 1 for a minute.
Finding hang_of(const std::vector<Waits>& waits) {
  JobBuilder builder;
  std::vector<std::int32_t> members;
  for (std::int32_t rank = 0; rank < std::ssize(waits); ++rank) members.push_back(rank);
  const std::uint32_t group = builder.group("world", members);
  for (const std::int32_t rank : members)
    builder.rank(rank).all_reduce(0, 1000 * us).in_group(group).sequence(0);
  Job job = builder.build();
  for (std::size_t rank = 0; rank < waits.size(); ++rank) {
    OpenOperation open;
    open.begin = 2000 * us;
    open.name = job.strings.intern(trace::to_string(waits[rank].operation));
    open.operation = waits[rank].operation;
    open.group = group;
    open.sequence = 1;
    open.peer = waits[rank].root;
    open.bytes = waits[rank].bytes;
    open.data_type = waits[rank].data_type;
    job.ranks[rank].ending.operations.push_back(open);
    job.ranks[rank].ending.recorded_until = 60 * kSecond;
  }
  const Report report = report_of(job);
  for (const Finding& finding : report.findings)
    if (finding.code == "hang") return finding;
  ADD_FAILURE() << "no hang is found";
  return {};
}

TEST(HangArguments, RanksThatNameDifferentRoots) {
  const Finding found = hang_of({{.root = 0}, {.root = 1}, {.root = 1}});
  EXPECT_EQ(found.title,
            "the job hung in broadcast (group world, number 1): its ranks disagree about its root");
  EXPECT_THAT(found.evidence,
              Contains("they disagree about its root: rank 0 gives rank 0, ranks 1, 2 give rank 1"));
  EXPECT_THAT(found.remedy, HasSubstr("every rank has to give it the same root"));
  EXPECT_THAT(found.remedy, Not(HasSubstr("network")));
}

// Rank 1 is its own root and got through; the others wait for its data, and it for them in a barrier.
TEST(HangArguments, OneThatGotThroughDisagreesAsWell) {
  JobBuilder builder;
  const std::uint32_t group = builder.group("world", {0, 1, 2});
  for (const std::int32_t rank : {0, 1, 2})
    builder.rank(rank).all_reduce(0, 1000 * us).in_group(group).sequence(0);
  builder.rank(1).collective(Operation::broadcast, 2000 * us, 2100 * us).in_group(group).sequence(1).root(1);
  Job job = builder.build();
  for (const std::size_t rank : {0U, 1U, 2U}) {
    OpenOperation open;
    open.begin = (rank == 1 ? 2200 : 2000) * us;
    open.operation = rank == 1 ? Operation::barrier : Operation::broadcast;
    open.name = job.strings.intern(trace::to_string(open.operation));
    open.group = group;
    open.sequence = rank == 1 ? 2 : 1;
    open.peer = rank == 1 ? kNoRank : 0;
    job.ranks[rank].ending.operations.push_back(open);
    job.ranks[rank].ending.recorded_until = 60 * kSecond;
  }
  std::vector<Finding> hangs;
  for (const Finding& one : report_of(job).findings)
    if (one.code == "hang") hangs.push_back(one);
  ASSERT_EQ(hangs.size(), 1U);
  EXPECT_EQ(hangs[0].title,
            "the job hung in broadcast (group world, number 1): its ranks disagree about its root");
  EXPECT_THAT(hangs[0].evidence,
              Contains("they disagree about its root: ranks 0, 2 give rank 0, rank 1 gives rank 1"));
}

TEST(HangArguments, SizesAndTypesThatHaveToBeEqual) {
  const auto of_type = [](DataType type) {
    return Waits{.operation = Operation::all_reduce, .bytes = 4096, .data_type = type};
  };
  EXPECT_THAT(hang_of({of_type(DataType::float32), of_type(DataType::bfloat16)}).title,
              HasSubstr("disagree about its type"));
  EXPECT_THAT(hang_of({{.operation = Operation::all_reduce, .bytes = 4096},
                       {.operation = Operation::all_reduce, .bytes = 8192}})
                  .evidence,
              Contains("they disagree about its size: rank 0 gives 4096 B, rank 1 gives 8192 B"));
}

TEST(HangArguments, WhatMayDifferAndWhatIsNotKnownSaysNothing) {
  const auto none_in = [](const std::vector<Waits>& waits) {
    EXPECT_THAT(hang_of(waits).title, Not(HasSubstr("disagree")));
    EXPECT_THAT(hang_of(waits).remedy, HasSubstr("network"));
  };
  none_in({{.root = 0, .bytes = 4096}, {.root = 0, .bytes = 4096}});
  none_in({{.root = 0}, {}});
  none_in({{.operation = Operation::all_to_all, .bytes = 4096},
           {.operation = Operation::all_to_all, .bytes = 8192}});
  none_in(
      {{.operation = Operation::all_gather, .bytes = 1}, {.operation = Operation::all_gather, .bytes = 2}});
}

}  // namespace
}  // namespace lockstep::analyzer

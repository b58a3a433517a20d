// Collectives that a rank never came to, against a slow search: every number of every group, rank by rank.
#include "analyzer/diagnose/unanswered.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {
namespace {

// How many collectives each rank of one group came to; the last of a rank in `open` never ended.
Job job_of(const std::vector<int>& counts, const std::set<std::int32_t>& open = {}) {
  JobBuilder builder;
  std::vector<std::int32_t> ranks;
  for (std::int32_t rank = 0; rank < std::ssize(counts); ++rank) ranks.push_back(rank);
  const std::uint32_t group = builder.group("all", ranks);
  for (std::int32_t rank = 0; rank < std::ssize(counts); ++rank) {
    builder.rank(rank).compute(0, 10);
    const int ended = counts[static_cast<std::size_t>(rank)] - (open.contains(rank) ? 1 : 0);
    for (int i = 0; i < ended; ++i)
      builder.rank(rank).all_reduce(100 * i + rank, 100 * i + 50).in_group(group).sequence(i);
  }
  Job job = builder.build();
  for (RankTrace& rank : job.ranks) rank.ending.closed = true;
  for (const std::int32_t rank : open) {
    const int last = counts[static_cast<std::size_t>(rank)] - 1;
    OpenOperation operation;
    operation.begin = 100 * last + rank;
    operation.operation = Operation::all_reduce;
    operation.group = group;
    operation.sequence = last;
    job.ranks[static_cast<std::size_t>(rank)].ending.operations.push_back(operation);
    job.ranks[static_cast<std::size_t>(rank)].ending.recorded_until = 100 * last + 1000;
  }
  return job;
}

TEST(Unanswered, WhereAllCameToAllThereIsNone) {
  EXPECT_TRUE(find_unanswered(job_of({3, 3, 3})).empty());
  EXPECT_TRUE(find_unanswered(job_of({3, 3, 3}, {1})).empty());
}

TEST(Unanswered, TheFirstOneAfterARanksLast) {
  const Job job = job_of({5, 3, 5}, {2});
  const std::vector<UnansweredCollective> found = find_unanswered(job);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].sequence, 3);
  EXPECT_EQ(found[0].missing, std::vector<std::int32_t>{1});
  ASSERT_EQ(found[0].participants.size(), 2U);
  EXPECT_EQ(found[0].participants[0].rank, 0U);
  EXPECT_EQ(time_in(job, found[0].participants[0]), 50);
  EXPECT_EQ(found[0].participants[1].rank, 2U);
}

// The others began number 4 once 3 had ended: the rank had come to that, and its file lacks it.
TEST(Unanswered, WhatOthersEndedCountsWhereAFileLacksItsLastMoments) {
  Job job = job_of({5, 3, 5}, {2});
  job.ranks[1].ending.closed = false;
  const std::vector<UnansweredCollective> found = find_unanswered(job);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].sequence, 4);
  EXPECT_EQ(found[0].missing, std::vector<std::int32_t>{1});
}

TEST(Unanswered, OneThatIsOpenLastsAsLongAsItsTrace) {
  const Job job = job_of({4, 3}, {0});
  const std::vector<UnansweredCollective> found = find_unanswered(job);
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0].participants.size(), 1U);
  EXPECT_EQ(found[0].participants[0].end, kUnknownTime);
  EXPECT_EQ(time_in(job, found[0].participants[0]), 1000);
}

TEST(Unanswered, ARankOfWhichNothingIsKnownIsNotAccused) {
  EXPECT_TRUE(find_unanswered(job_of({3, 0, 3})).empty());
  Job job = job_of({4, 3});
  job.ranks.erase(job.ranks.begin() + 1);
  EXPECT_TRUE(find_unanswered(job).empty());
}

TEST(Unanswered, MessagesAreNoCollectives) {
  Job job = job_of({4, 3});
  for (Communication& communication : job.ranks[0].communications)
    if (communication.sequence == 3) communication.operation = Operation::send;
  EXPECT_TRUE(find_unanswered(job).empty());
}

TEST(Unanswered, AgreesWithASlowSearch) {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same jobs each time
  for (int round = 0; round < 200; ++round) {
    std::vector<int> counts(2 + random() % 5);
    for (int& count : counts) count = static_cast<int>(random() % 4);
    std::map<std::int64_t, std::set<std::int32_t>> missing;
    for (std::int64_t number = 0; number < 4; ++number) {
      const bool came = std::any_of(counts.begin(), counts.end(), [&](int count) { return count > number; });
      for (std::size_t rank = 0; rank < counts.size(); ++rank)
        if (came && counts[rank] > 0 && counts[rank] == number)
          missing[number].insert(static_cast<std::int32_t>(rank));
    }
    std::map<std::int64_t, std::set<std::int32_t>> found;
    for (const UnansweredCollective& collective : find_unanswered(job_of(counts)))
      found[collective.sequence] = {collective.missing.begin(), collective.missing.end()};
    EXPECT_EQ(found, missing) << "round " << round;
  }
}

}  // namespace
}  // namespace lockstep::analyzer

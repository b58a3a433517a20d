// What compute costs beside communication: exact sums over hand-made ranks.
#include "analyzer/metrics/overlap_price.h"

#include <gtest/gtest.h>

#include <array>

#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {
namespace {

constexpr std::array<Interval, 1> kAll{{{0, 1'000'000}}};

// `pairs` times: a kernel alone for 100 ns (the n-th for 100 + n), then the same for 130 ns under an
// all-gather.
JobBuilder inflated_job(int pairs) {
  JobBuilder job;
  for (int i = 0; i < pairs; ++i) {
    const Nanoseconds begin = i * 1000;
    job.rank(0).compute(begin, begin + 100 + i, "gemm").shaped(7);
    job.rank(0).collective(Operation::all_gather, begin + 300, begin + 500);
    job.rank(0).compute(begin + 310, begin + 440, "gemm").shaped(7);
  }
  return job;
}

RankTrace rank_of(const JobBuilder& job) {
  return job.build().ranks.at(0);
}

TEST(OverlapPrice, IsTimeUnderCommunicationBesideTheMedianAlone) {
  const auto price = price_overlap(rank_of(inflated_job(21)), kAll);
  ASSERT_TRUE(price.has_value());
  EXPECT_EQ(price->activities, 21);
  EXPECT_EQ(price->under_ns, 21 * 130);
  EXPECT_EQ(price->alone_ns, 21 * 110) << "the median of 100 to 120";
  EXPECT_EQ(price->price_ns(), 21 * 20);
  EXPECT_DOUBLE_EQ(price->inflation(), 130.0 / 110.0);
}

TEST(OverlapPrice, TooFewActivitiesHaveNone) {
  EXPECT_FALSE(price_overlap(rank_of(inflated_job(19)), kAll).has_value());
  EXPECT_TRUE(price_overlap(rank_of(inflated_job(20)), kAll).has_value());
  EXPECT_FALSE(price_overlap(RankTrace{}, kAll).has_value());
}

TEST(OverlapPrice, WhatIsPartlyCoveredIsNeither) {
  JobBuilder job = inflated_job(21);
  job.rank(0).compute(30'200, 30'400, "gemm").shaped(7);
  job.rank(0).collective(Operation::all_gather, 30'300, 30'500);
  const auto price = price_overlap(rank_of(job), kAll);
  ASSERT_TRUE(price.has_value());
  EXPECT_EQ(price->under_ns, 21 * 130);
  EXPECT_EQ(price->alone_ns, 21 * 110);
}

TEST(OverlapPrice, AnotherSizeIsAnotherActivity) {
  JobBuilder job = inflated_job(21);
  for (int i = 0; i < 50; ++i) job.rank(0).compute(100'000 + i * 10, 100'005 + i * 10, "gemm").shaped(8);
  EXPECT_EQ(price_overlap(rank_of(job), kAll)->alone_ns, 21 * 110);
}

TEST(OverlapPrice, ALayersPassIsItsOwnSize) {
  JobBuilder job;
  for (int i = 0; i < 20; ++i) {
    const Nanoseconds begin = i * 1000;
    job.rank(0).backward(3, -1, begin, begin + 100);
    job.rank(0).backward(2, -1, begin + 120, begin + 160);
    job.rank(0).collective(Operation::all_gather, begin + 300, begin + 500);
    job.rank(0).backward(3, -1, begin + 300, begin + 410);
  }
  const auto price = price_overlap(rank_of(job), kAll);
  ASSERT_TRUE(price.has_value());
  EXPECT_EQ(price->alone_ns, 20 * 100);
  EXPECT_EQ(price->under_ns, 20 * 110);
}

TEST(OverlapPrice, NamesAloneSayNothingOfASize) {
  JobBuilder job;
  for (int i = 0; i < 30; ++i) {
    job.rank(0).compute(i * 1000, i * 1000 + 100, "gemm");
    job.rank(0).collective(Operation::all_gather, i * 1000 + 300, i * 1000 + 500);
    job.rank(0).compute(i * 1000 + 300, i * 1000 + 500, "gemm");
  }
  EXPECT_FALSE(price_overlap(rank_of(job), kAll).has_value());
}

TEST(OverlapPrice, IsOfTheWindowsAlone) {
  const RankTrace rank = rank_of(inflated_job(60));
  const std::array<Interval, 2> windows{{{0, 10'000}, {20'000, 40'000}}};
  const auto price = price_overlap(rank, windows);
  ASSERT_TRUE(price.has_value());
  EXPECT_EQ(price->activities, 30);
  // Of 0 to 9 and 20 to 39 the lower median is the fifteenth: 24.
  EXPECT_EQ(price->alone_ns, 30 * 124);
}

}  // namespace
}  // namespace lockstep::analyzer

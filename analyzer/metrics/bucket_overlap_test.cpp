#include "analyzer/metrics/bucket_overlap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::analyzer {
namespace {

// An operation of ranks 0 and 1: rank 0 waits 30 (10 of it under compute), transfers 100 (40 under compute);
// rank 1 transfers 100 in the open.
CollectiveReport operation(std::optional<std::int64_t> step, Operation operation, std::int64_t bytes,
                           const std::string& name = "") {
  CollectiveReport c;
  c.step = step;
  c.operation = operation;
  c.name = name;
  c.group_name = "world";
  c.group_ranks = {0, 1};
  c.bytes = bytes;
  CollectiveRank waiting{0, 0, 130, 30, 100, 10};
  waiting.covered_ns = 50;
  c.ranks = {waiting, {1, 30, 130, 0, 100, 0}};
  c.wait_ns = 30;
  return c;
}

TEST(Buckets, TheSamePlaceOfEachStepIsOneBucket) {
  Report report;
  report.collectives.push_back(operation(std::nullopt, Operation::all_reduce, 1));
  for (const std::int64_t step : {0, 1, 2}) {
    for (const std::int64_t bytes : {400, 200}) {
      report.collectives.push_back(operation(step, Operation::all_reduce, bytes + step));
      report.collectives.push_back(operation(step, Operation::send_recv, 8));
    }
  }
  const std::vector<BucketReport> buckets = summarise_buckets(report);
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_EQ(buckets[0].position, 0);
  EXPECT_EQ(buckets[0].bytes, 401);
  EXPECT_EQ(buckets[1].position, 1);
  EXPECT_EQ(buckets[1].bytes, 201);
  for (const BucketReport& bucket : buckets) {
    EXPECT_EQ(bucket.group_name, "world");
    EXPECT_EQ(bucket.operation, Operation::all_reduce);
    EXPECT_EQ(bucket.name, "");
    EXPECT_EQ(bucket.steps, 3);
    EXPECT_EQ(bucket.count, 3);
    EXPECT_EQ(bucket.records, 6);
    EXPECT_EQ(bucket.transfer_ns, 600);
    EXPECT_EQ(bucket.wait_ns, 90);
    EXPECT_EQ(bucket.hidden_ns, 150);
    EXPECT_EQ(bucket.exposed_transfer_ns, 600 - 120);
    EXPECT_EQ(bucket.exposed_wait_ns, 60);
    EXPECT_EQ(bucket.transfer_ns + *bucket.wait_ns,
              *bucket.hidden_ns + *bucket.exposed_transfer_ns + *bucket.exposed_wait_ns);
    EXPECT_EQ(bucket.mean(bucket.transfer_ns), 100);
    EXPECT_EQ(bucket.mean(*bucket.wait_ns), 15);
  }
}

TEST(Buckets, NamesTellLayersApart) {
  Report report;
  for (const std::int64_t step : {0, 1}) {
    // Forward, then backward: each layer is gathered twice.
    for (const char* name : {"layer 0", "layer 1", "layer 1", "layer 0"})
      report.collectives.push_back(operation(step, Operation::all_gather, 64, name));
    for (const char* name : {"layer 1", "layer 0"})
      report.collectives.push_back(operation(step, Operation::reduce_scatter, 64, name));
  }
  const std::vector<BucketReport> buckets = summarise_buckets(report);
  ASSERT_EQ(buckets.size(), 4u);
  EXPECT_EQ(buckets[0].operation, Operation::all_gather);
  EXPECT_EQ(buckets[0].name, "layer 0");
  EXPECT_EQ(buckets[0].position, 0);
  EXPECT_EQ(buckets[0].count, 4);
  EXPECT_EQ(buckets[0].steps, 2);
  EXPECT_EQ(buckets[1].name, "layer 1");
  EXPECT_EQ(buckets[1].position, 1);
  // As they are issued, not by name.
  EXPECT_EQ(buckets[2].operation, Operation::reduce_scatter);
  EXPECT_EQ(buckets[2].name, "layer 1");
  EXPECT_EQ(buckets[3].name, "layer 0");
}

TEST(Buckets, WhatIsNotKnownIsAbsent) {
  Report report;
  CollectiveReport alone = operation(0, Operation::all_reduce, 8);
  alone.partial = true;
  alone.ranks = {{0, 0, 130, 0, 130, 0}};
  alone.ranks[0].covered_ns = 20;
  alone.bytes.reset();
  CollectiveReport damaged = operation(0, Operation::broadcast, 8);
  damaged.ranks[1].hidden_known = false;
  report.collectives = {alone, damaged};
  const std::vector<BucketReport> buckets = summarise_buckets(report);
  ASSERT_EQ(buckets.size(), 2u);
  const BucketReport& lossy = buckets[0];
  EXPECT_EQ(lossy.operation, Operation::broadcast);
  EXPECT_EQ(lossy.wait_ns, 30);
  EXPECT_EQ(lossy.hidden_ns, std::nullopt);
  EXPECT_EQ(lossy.exposed_transfer_ns, std::nullopt);
  EXPECT_EQ(lossy.exposed_wait_ns, std::nullopt);
  const BucketReport& lonely = buckets[1];
  EXPECT_EQ(lonely.bytes, std::nullopt);
  EXPECT_EQ(lonely.wait_ns, std::nullopt);
  EXPECT_EQ(lonely.exposed_wait_ns, std::nullopt);
  EXPECT_EQ(lonely.exposed_transfer_ns, 110);
}

TEST(Buckets, OfSomeRanksAndWithoutSteps) {
  Report report;
  report.collectives = {operation(0, Operation::all_reduce, 8)};
  const std::vector<BucketReport> buckets =
      summarise_buckets(report, [](std::int32_t rank) { return rank == 1; });
  ASSERT_EQ(buckets.size(), 1u);
  EXPECT_EQ(buckets[0].records, 1);
  EXPECT_EQ(buckets[0].transfer_ns, 100);
  EXPECT_EQ(buckets[0].wait_ns, 0);
  EXPECT_EQ(buckets[0].hidden_ns, 0);
  report.collectives = {operation(std::nullopt, Operation::all_reduce, 8)};
  EXPECT_TRUE(summarise_buckets(report).empty());
}

}  // namespace
}  // namespace lockstep::analyzer

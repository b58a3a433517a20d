#include "analyzer/match/stage_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "analyzer/match/test_matching.h"

namespace lockstep::analyzer {
namespace {

// Three ranks of a group that no name tells anything of, by what they send each other; each computes.
bool is_stage_chain(const std::function<void(JobBuilder&, std::uint32_t)>& communicate,
                    bool computes = true) {
  JobBuilder job;
  const std::uint32_t group = job.group("5", {0, 1, 2}, "undefined");
  if (computes)
    for (const int rank : {0, 1, 2}) job.rank(rank).compute(0, 1);
  communicate(job, group);
  const Matched result = match(job);
  EXPECT_EQ(result.matching.groups.at(0).pipeline, result.matching.groups.at(0).stage_chain);
  return result.matching.groups.at(0).stage_chain;
}

void send(JobBuilder& job, std::uint32_t group, int from, int to, Nanoseconds begin) {
  job.rank(from).send(to, begin, begin + 5).in_group(group);
  job.rank(to).recv(from, begin, begin + 5).in_group(group);
}

TEST(StageChain, ActivationsGoOnAndGradientsComeBack) {
  const auto pipeline = [](JobBuilder& job, std::uint32_t group) {
    for (const Nanoseconds microbatch : {0, 10}) {
      send(job, group, 0, 1, 10 + microbatch), send(job, group, 1, 2, 30 + microbatch);
      send(job, group, 2, 1, 60 + microbatch), send(job, group, 1, 0, 80 + microbatch);
    }
  };
  EXPECT_TRUE(is_stage_chain(pipeline));
  EXPECT_FALSE(is_stage_chain(pipeline, false));  // a benchmark of messages
}

TEST(StageChain, RingsAndNeighboursThatSwapAreNone) {
  EXPECT_FALSE(is_stage_chain([](JobBuilder& job, std::uint32_t group) {
    for (const int rank : {0, 1, 2}) {
      send(job, group, rank, (rank + 1) % 3, 10 + 10 * rank);
      send(job, group, (rank + 1) % 3, rank, 50 + 10 * rank);
    }
  }));
  EXPECT_FALSE(is_stage_chain([](JobBuilder& job, std::uint32_t group) {
    for (const int rank : {0, 1}) send(job, group, rank, rank + 1, 10), send(job, group, rank + 1, rank, 10);
  }));
}

TEST(StageChain, CountsMustAgree) {
  EXPECT_FALSE(is_stage_chain([](JobBuilder& job, std::uint32_t group) {
    send(job, group, 0, 1, 10), send(job, group, 0, 1, 20), send(job, group, 1, 2, 30);
    send(job, group, 2, 1, 60), send(job, group, 1, 0, 80);
  }));
  // The last stage got nothing back to send: inference.
  EXPECT_FALSE(is_stage_chain(
      [](JobBuilder& job, std::uint32_t group) { send(job, group, 0, 1, 10), send(job, group, 1, 2, 30); }));
}

}  // namespace
}  // namespace lockstep::analyzer

// How wide a chain's region is: the pass before a stage's first message, and the one behind its last.
#include "analyzer/metrics/pipeline_message_regions.h"

#include <gtest/gtest.h>

#include <numeric>
#include <utility>

#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {
namespace {

struct Stage {
  StringTable strings;
  RankBuilder builder{strings, 0};

  // Of all its messages, or of those from `first` on.
  Interval passes(std::uint32_t first = 0) const {
    const RankTrace rank = builder.build();
    std::vector<std::uint32_t> messages(rank.communications.size() - first);
    std::iota(messages.begin(), messages.end(), first);
    return passes_around_messages(rank, std::move(messages), std::nullopt);
  }
};

// 20 ns are computed between two messages; three computations of 10 ns lie before and behind them.
Stage stage_between(Operation first, Operation last) {
  Stage stage;
  stage.builder.compute(0, 10).compute(10, 20).compute(20, 30);
  stage.builder.p2p(first, 1, 30, 31).compute(40, 60).p2p(last, 1, 70, 72);
  stage.builder.compute(80, 90).compute(90, 100).compute(100, 110);
  return stage;
}

TEST(PassesAroundMessages, AreAsLongAsWhatIsComputedBetweenTheMessages) {
  EXPECT_EQ(stage_between(Operation::send, Operation::recv).passes(), (Interval{10, 100}));
}

TEST(PassesAroundMessages, NoneLieBeforeAReceiveNorBehindASend) {
  EXPECT_EQ(stage_between(Operation::recv, Operation::recv).passes(), (Interval{30, 100}));
  EXPECT_EQ(stage_between(Operation::send, Operation::send).passes(), (Interval{10, 72}));
  EXPECT_EQ(stage_between(Operation::recv, Operation::send).passes(), (Interval{30, 72}));
}

TEST(PassesAroundMessages, MayBeAQuarterLongerAndAreOneComputationAtLeast) {
  Stage stage;
  stage.builder.compute(0, 5).compute(5, 20).compute(20, 30);  // 25 ns: 20 and a quarter
  stage.builder.send(1, 30, 31).compute(40, 60).recv(1, 70, 72).compute(80, 180).compute(180, 181);
  EXPECT_EQ(stage.passes(), (Interval{5, 180}));
}

TEST(PassesAroundMessages, OfTheOnlyMessageAreAllThatIsComputed) {
  Stage stage;
  stage.builder.compute(0, 10).compute(10, 20).send(1, 30, 31).compute(40, 60);
  EXPECT_EQ(stage.passes(), (Interval{0, 31}));
}

TEST(PassesAroundMessages, EndAtAnotherCommunication) {
  Stage stage;
  stage.builder.compute(0, 10).all_reduce(12, 18).compute(20, 30);
  stage.builder.send(1, 30, 31).compute(40, 60);
  EXPECT_EQ(stage.passes(1), (Interval{20, 31}));
}

}  // namespace
}  // namespace lockstep::analyzer

#include "analyzer/operators/slow_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace lockstep::analyzer {
namespace {

// As job.h promises.
void in_order(std::vector<HostRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const HostRange& a, const HostRange& b) {
    return std::tie(a.lane, a.begin, b.end, a.depth) < std::tie(b.lane, b.begin, a.end, b.depth);
  });
}

// A step of a rank, one thing after the other: module, operator in it ("": none), ns.
struct Done {
  std::string module;
  std::string operation;
  Nanoseconds ns = 0;
};
using Step = std::vector<Done>;

constexpr Nanoseconds kStep = 100'000;

class Ranks {
 public:
  // steps[s] is what the rank does in step s.
  void add(const std::vector<Step>& steps) {
    RankTrace rank;
    rank.rank = static_cast<std::int32_t>(job_.ranks.size());
    rank.device = "cpu";
    rank.lanes = {{trace::LaneKind::host_thread, 1, "main"}, {trace::LaneKind::compute_thread, 1, "main"}};
    for (std::size_t step = 0; step < steps.size(); ++step) {
      const auto begin = static_cast<Nanoseconds>(step) * kStep;
      rank.steps.push_back({static_cast<std::int64_t>(step), begin, begin + kStep});
      Nanoseconds at = begin;
      for (const Done& done : steps[step]) {
        if (!done.module.empty())
          rank.host_ranges.push_back(
              {at, at + done.ns, job_.strings.intern(done.module), 0, 0, HostKind::module});
        if (!done.operation.empty())
          rank.host_ranges.push_back(
              {at, at + done.ns, job_.strings.intern(done.operation), 0, 1, HostKind::operation});
        at += done.ns;
      }
      Activity activity;
      activity.begin = activity.launch_begin = activity.launch_end = begin;
      activity.end = at;
      activity.lane = 1;
      rank.activities.push_back(activity);
    }
    in_order(rank.host_ranges);
    job_.ranks.push_back(std::move(rank));
  }

  PartComparison compare(std::int32_t rank, std::int64_t others_ns, std::int64_t excess_ns) const {
    SlowPartQuestion question{rank, {}, {}, others_ns, excess_ns};
    for (const RankTrace& one : job_.ranks) question.ranks.push_back(one.rank);
    for (const StepMark& step : job_.ranks.front().steps) question.steps.push_back(step.number);
    return compare_parts(job_, question);
  }

  Job& job() { return job_; }

 private:
  Job job_;
};

// 10 layers of an attention (400) and an MLP (600), and a head (1000) with an operator each: 11000 in all.
Step model(const std::map<std::string, Nanoseconds>& longer = {}) {
  Step step;
  const auto part = [&](const std::string& module, const std::string& operation, Nanoseconds ns) {
    const auto found = longer.find(module);
    step.push_back({module, operation, ns + (found == longer.end() ? 0 : found->second)});
  };
  for (int layer = 0; layer < 10; ++layer) {
    part("layers." + std::to_string(layer) + ".attention", "aten::softmax", 400);
    part("layers." + std::to_string(layer) + ".mlp", "aten::linear", 600);
  }
  part("head", "aten::linear", 1000);
  return step;
}
std::vector<Step> steps(const Step& step, std::size_t count = 5) {
  return std::vector<Step>(count, step);
}

TEST(SlowPart, IsTheInnermostModuleThatHoldsTheDifference) {
  Ranks ranks;
  ranks.add(steps(model()));
  ranks.add(steps(model({{"layers.7.mlp", 2200}})));
  ranks.add(steps(model()));
  const PartComparison found = ranks.compare(1, 11'000, 2200);
  ASSERT_TRUE(found.slow);
  EXPECT_EQ(found.slow->module, "layers.7.mlp");
  EXPECT_EQ(found.slow->operation, "aten::linear");
  EXPECT_FALSE(found.slow->is_outside);
  EXPECT_EQ(found.slow->excess_ns, 2200);
  EXPECT_EQ(found.slow->own_ns, 2800);
  EXPECT_EQ(found.slow->others_ns, 600);
}

// Times of parts have more in them than the excess that is asked about: waiting for a core.
TEST(SlowPart, HoldsMostOfWhatAllPartsTakeLongerTogether) {
  Ranks ranks;
  Step slow = model({{"layers.7.mlp", 2200}}), other = model();
  slow.push_back({"embedding", "aten::embedding", 2500});
  other.push_back({"embedding", "aten::embedding", 500});
  ranks.add(steps(slow));
  ranks.add(steps(other));
  const PartComparison two = ranks.compare(0, 11'500, 2200);
  EXPECT_EQ(two.longer_ns, 4200);
  EXPECT_FALSE(two.slow);
  Ranks nearly_one;
  nearly_one.add(steps(model({{"layers.7.mlp", 2200}, {"head", 1000}})));
  nearly_one.add(steps(model()));
  const PartComparison one = nearly_one.compare(0, 11'000, 2200);
  EXPECT_EQ(one.longer_ns, 3200);
  ASSERT_TRUE(one.slow);
  EXPECT_EQ(one.slow->module, "layers.7.mlp");
}

TEST(SlowPart, AWholeLayerIsNotItsLargerHalf) {
  Ranks ranks;
  ranks.add(steps(model()));
  ranks.add(steps(model({{"layers.7.attention", 800}, {"layers.7.mlp", 1200}})));
  const PartComparison found = ranks.compare(1, 11'000, 2000);
  ASSERT_TRUE(found.slow);
  EXPECT_EQ(found.slow->module, "layers.7");
  EXPECT_EQ(found.slow->operation, "aten::linear");
  EXPECT_EQ(found.slow->own_ns, 3000);
}

TEST(SlowPart, CodeOfAModuleOutsideOfOperatorsIsSaid) {
  Ranks ranks;
  Step slow = model();
  slow.push_back({"layers.7.mlp", "", 3000});
  ranks.add(steps(slow));
  ranks.add(steps(model()));
  const PartComparison found = ranks.compare(0, 11'000, 3000);
  ASSERT_TRUE(found.slow);
  EXPECT_EQ(found.slow->module, "layers.7.mlp");
  EXPECT_TRUE(found.slow->is_outside);
  EXPECT_EQ(found.slow->operation, "");
}

TEST(SlowPart, WhereAllTakesLongerAlikeNoneIsNamed) {
  Ranks ranks;
  Step slow = model();
  for (Done& done : slow) done.ns += done.ns / 5;
  ranks.add(steps(slow));
  ranks.add(steps(model()));
  const PartComparison found = ranks.compare(0, 11'000, 2200);
  EXPECT_TRUE(found.known);
  EXPECT_FALSE(found.slow);
  EXPECT_TRUE(found.alike);
  EXPECT_DOUBLE_EQ(found.least, 0.2);
  EXPECT_DOUBLE_EQ(found.most, 0.2);
}

TEST(SlowPart, TwoPlacesAreNotOne) {
  Ranks ranks;
  ranks.add(steps(model({{"layers.2.attention", 1000}, {"head", 1000}})));
  ranks.add(steps(model()));
  const PartComparison found = ranks.compare(0, 11'000, 2000);
  EXPECT_FALSE(found.slow);
  EXPECT_FALSE(found.alike);
}

TEST(SlowPart, AnOperatorThatIsSlowInEveryLayerIsNamedBesideThem) {
  Ranks ranks;
  Step slow = model();
  for (Done& done : slow)
    if (done.operation == "aten::softmax") done.ns += 200;
  ranks.add(steps(slow));
  ranks.add(steps(model()));
  const PartComparison found = ranks.compare(0, 11'000, 2000);
  ASSERT_TRUE(found.slow);
  EXPECT_EQ(found.slow->module, "layers");
  EXPECT_EQ(found.slow->operation, "aten::softmax");
}

TEST(SlowPart, WithoutModulesAnOperatorIsNamedAlone) {
  Ranks ranks;
  Step usual = model();
  for (Done& done : usual) done.module.clear();
  Step slow = usual;
  for (Done& done : slow)
    if (done.operation == "aten::softmax") done.ns += 200;
  ranks.add(steps(slow));
  ranks.add(steps(usual));
  const PartComparison found = ranks.compare(0, 11'000, 2000);
  ASSERT_TRUE(found.slow);
  EXPECT_EQ(found.slow->module, "");
  EXPECT_EQ(found.slow->operation, "aten::softmax");
  EXPECT_EQ(found.slow->own_ns, 6000);
  EXPECT_EQ(found.slow->others_ns, 4000);
}

TEST(SlowPart, TheOthersAreTheirMedianStepByStep) {
  Ranks ranks;
  ranks.add(steps(model({{"head", 3000}})));
  ranks.add({model({{"head", 9000}}), model(), model(), model(), model()});  // one step of one rank
  ranks.add(steps(model()));
  ranks.add(steps(model()));
  const PartComparison found = ranks.compare(0, 11'000, 3000);
  ASSERT_TRUE(found.slow);
  EXPECT_EQ(found.slow->module, "head");
  EXPECT_EQ(found.slow->excess_ns, 3000);
  EXPECT_EQ(found.slow->others_ns, 1000);
}

TEST(SlowPart, AModuleThatNobodyElseHasIsNamed) {
  Ranks ranks;
  Step slow = model();
  slow.push_back({"extra", "aten::sort", 4000});
  ranks.add(steps(slow));
  ranks.add(steps(model()));
  const PartComparison found = ranks.compare(0, 11'000, 4000);
  ASSERT_TRUE(found.slow);
  EXPECT_EQ(found.slow->module, "extra");
  EXPECT_EQ(found.slow->others_ns, 0);
}

TEST(SlowPart, WithoutOperatorsOfARankNothingIsKnown) {
  Ranks ranks;
  ranks.add(steps(model({{"head", 3000}})));
  ranks.add(steps(model()));
  EXPECT_TRUE(ranks.compare(0, 11'000, 3000).known);
  EXPECT_FALSE(ranks.compare(0, 11'000, 0).known) << "it computes no longer";
  ranks.job().ranks[1].host_ranges.clear();
  EXPECT_FALSE(ranks.compare(0, 11'000, 3000).known);
}

// Its time in a module would be compared with nothing.
TEST(SlowPart, WhereModulesAreKnownOfOneRankAloneNothingIsCompared) {
  Ranks ranks;
  Step others = model();
  for (Done& done : others) done.module.clear();
  ranks.add(steps(model({{"head", 3000}})));
  ranks.add(steps(others));
  const PartComparison found = ranks.compare(0, 11'000, 3000);
  EXPECT_FALSE(found.known);
  EXPECT_TRUE(found.table.rows.empty());
}

TEST(SlowPart, OfManyOthersSixteenAreEnough) {
  Ranks ranks;
  ranks.add(steps(model({{"head", 3000}})));
  for (int other = 0; other < 40; ++other) ranks.add(steps(model()));
  const PartComparison found = ranks.compare(0, 11'000, 3000);
  ASSERT_TRUE(found.slow);
  EXPECT_EQ(found.slow->module, "head");
}

}  // namespace
}  // namespace lockstep::analyzer

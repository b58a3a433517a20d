#include "analyzer/operators/part_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>

namespace lockstep::analyzer {
namespace {

// Names stand for themselves: a module or operator n is StringTable id n, none is 0.
constexpr std::uint32_t kModel = 1, kLayer = 2, kMlp = 3, kAddmm = 10, kRelu = 11;

// Of none of them an operator's by its looks ("aten::…"): operators are ranges here.
const StringTable& names() {
  static const StringTable table = [] {
    StringTable made;
    for (int id = 1; id < 20; ++id) made.intern("name " + std::to_string(id));
    return made;
  }();
  return table;
}

RankTrace cpu_rank() {
  RankTrace rank;
  rank.device = "cpu";
  rank.lanes = {{trace::LaneKind::host_thread, 1, "main"},
                {trace::LaneKind::compute_thread, 1, "main"},
                {trace::LaneKind::device_stream, 7, "stream 7"},
                {trace::LaneKind::host_thread, 2, "autograd"}};
  return rank;
}
// As job.h promises.
void in_order(std::vector<HostRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const HostRange& a, const HostRange& b) {
    return std::tie(a.lane, a.begin, b.end, a.depth) < std::tie(b.lane, b.begin, a.end, b.depth);
  });
}

void module(RankTrace& rank, Nanoseconds begin, Nanoseconds end, std::uint32_t name, std::uint32_t lane = 0) {
  rank.host_ranges.push_back({begin, end, name, lane, 0, HostKind::module});
}
void operation(RankTrace& rank, Nanoseconds begin, Nanoseconds end, std::uint32_t name,
               std::uint32_t lane = 0) {
  rank.host_ranges.push_back({begin, end, name, lane, 0, HostKind::operation});
}
void compute(RankTrace& rank, Nanoseconds begin, Nanoseconds end) {
  Activity activity;
  activity.begin = activity.launch_begin = activity.launch_end = begin;
  activity.end = end;
  activity.lane = 1;
  rank.activities.push_back(activity);
}
void kernel(RankTrace& rank, Nanoseconds launched, Nanoseconds begin, Nanoseconds end, std::uint32_t step) {
  Activity activity;
  activity.begin = begin;
  activity.end = end;
  activity.launch_begin = launched;
  activity.launch_end = launched + 1;
  activity.lane = 2;
  activity.step = step;
  rank.activities.push_back(activity);
}

TEST(PartTimes, EachInstantIsOfTheInnermostModuleAndTheOutermostOperatorInIt) {
  RankTrace rank = cpu_rank();
  rank.steps = {{5, 0, 100}};
  compute(rank, 0, 100);
  module(rank, 10, 90, kModel);
  module(rank, 20, 60, kLayer);
  operation(rank, 30, 50, kAddmm);
  operation(rank, 35, 40, kRelu);   // within another
  operation(rank, 70, 80, kAddmm);  // of the model itself
  operation(rank, 92, 96, kRelu);   // of no module
  in_order(rank.host_ranges);
  const std::int64_t steps[] = {5};
  EXPECT_EQ(times_of_parts(rank, names(), steps), (PartTimes{{{kModel, 0}, {30}},
                                                             {{kLayer, 0}, {20}},
                                                             {{kLayer, kAddmm}, {20}},
                                                             {{kModel, kAddmm}, {10}},
                                                             {{0, kRelu}, {4}}}));
}

TEST(PartTimes, AModuleWithinAnOperatorBeginsAnew) {  // recomputed in the backward pass
  RankTrace rank = cpu_rank();
  rank.steps = {{0, 0, 100}};
  compute(rank, 0, 100);
  operation(rank, 0, 50, kAddmm);
  module(rank, 10, 40, kLayer);
  operation(rank, 20, 30, kRelu);
  in_order(rank.host_ranges);
  const std::int64_t steps[] = {0};
  EXPECT_EQ(times_of_parts(rank, names(), steps),
            (PartTimes{{{0, kAddmm}, {20}}, {{kLayer, 0}, {20}}, {{kLayer, kRelu}, {10}}}));
}

TEST(PartTimes, WaitingInAModuleIsNotComputing) {
  RankTrace rank = cpu_rank();
  rank.steps = {{0, 0, 100}};
  compute(rank, 0, 30);
  compute(rank, 70, 100);
  module(rank, 20, 80, kLayer);
  const std::int64_t steps[] = {0};
  EXPECT_EQ(times_of_parts(rank, names(), steps), (PartTimes{{{kLayer, 0}, {20}}}));
}

TEST(PartTimes, OnlyStepsThatAreAskedForInTheirOrder) {
  RankTrace rank = cpu_rank();
  rank.steps = {{0, 0, 10}, {1, 10, 20}, {2, 20, 30}};
  compute(rank, 0, 30);
  module(rank, 1, 3, kLayer);
  module(rank, 11, 14, kLayer);
  module(rank, 21, 26, kLayer);
  const std::int64_t steps[] = {2, 0, 9};
  EXPECT_EQ(times_of_parts(rank, names(), steps), (PartTimes{{{kLayer, 0}, {5, 2, 0}}}));
}

TEST(PartTimes, AKernelIsOfThePartThatLaunchedItOnWhicheverThread) {
  RankTrace rank = cpu_rank();
  rank.steps = {{0, 0, 50}, {1, 50, 100}};
  module(rank, 0, 20, kLayer);
  operation(rank, 5, 15, kAddmm);
  module(rank, 30, 40, kMlp, 3);
  kernel(rank, 6, 100, 140, 0);
  kernel(rank, 16, 140, 143, 0);
  kernel(rank, 32, 143, 150, 0);
  kernel(rank, 45, 150, 160, 0);            // launched by nobody that is known
  kernel(rank, kUnknownTime, 160, 170, 1);  // not known when
  const std::int64_t steps[] = {0, 1};
  EXPECT_EQ(times_of_parts(rank, names(), steps),
            (PartTimes{{{kLayer, kAddmm}, {40, 0}}, {{kLayer, 0}, {3, 0}}, {{kMlp, 0}, {7, 0}}}));
}

// A profile of the CPU alone: operators are activities, modules are ranges of the thread.
TEST(PartTimes, OperatorsThatAreTheComputationsAreOfTheModuleInWhichTheyBegin) {
  StringTable strings;
  const std::uint32_t gpt = strings.intern("GPT_0"), mlp = strings.intern("GPT_0.MLP_0"),
                      linear = strings.intern("aten::linear");
  RankTrace rank = cpu_rank();
  rank.steps = {{0, 0, 100}};
  module(rank, 10, 90, gpt);
  module(rank, 20, 60, mlp);
  for (const Nanoseconds begin : {Nanoseconds{5}, Nanoseconds{30}, Nanoseconds{70}, Nanoseconds{95}}) {
    compute(rank, begin, begin + 4);
    rank.activities.back().name = linear;
    rank.activities.back().step = 0;
  }
  in_order(rank.host_ranges);
  const std::int64_t steps[] = {0};
  EXPECT_EQ(times_of_parts(rank, strings, steps),
            (PartTimes{{{0, linear}, {8}}, {{mlp, linear}, {4}}, {{gpt, linear}, {4}}}));
}

// Slowly: each instant asks all ranges which of them are under way.
PartTimes times_by_the_instant(const RankTrace& rank, std::span<const std::int64_t> steps,
                               Nanoseconds until) {
  PartTimes times;
  for (Nanoseconds t = 0; t < until; ++t) {
    const bool computing = std::any_of(rank.activities.begin(), rank.activities.end(),
                                       [t](const Activity& a) { return a.begin <= t && t < a.end; });
    if (!computing) continue;
    Part part;
    std::vector<const HostRange*> open;
    for (const HostRange& range : rank.host_ranges)
      if (range.begin <= t && t < range.end) open.push_back(&range);
    if (open.empty()) continue;
    for (const HostRange* range : open) {  // from the outermost
      if (range->kind == HostKind::module) part = {range->name, 0};
      if (range->kind == HostKind::operation && part.operation == 0) part.operation = range->name;
    }
    for (const StepMark& step : rank.steps) {
      const auto asked = std::find(steps.begin(), steps.end(), step.number);
      if (t < step.begin || t >= step.end || asked == steps.end()) continue;
      std::vector<std::int64_t>& of_part = times[part];
      of_part.resize(steps.size());
      ++of_part[static_cast<std::size_t>(asked - steps.begin())];
    }
  }
  return times;
}

// Ranges that nest within [begin, end), with names of their own.
void nest(std::mt19937& random, RankTrace& rank, Nanoseconds begin, Nanoseconds end, int depth) {
  Nanoseconds at = begin;
  while (at < end && depth < 5) {
    at += static_cast<Nanoseconds>(random() % 4);
    const Nanoseconds stop = std::min<Nanoseconds>(end, at + 1 + static_cast<Nanoseconds>(random() % 25));
    if (at >= stop) return;
    const bool is_module = random() % 2 == 0;
    const std::uint32_t name = 1 + static_cast<std::uint32_t>(random() % 4) + (is_module ? 0 : 10);
    if (is_module) {
      module(rank, at, stop, name);
    } else {
      operation(rank, at, stop, name);
    }
    // What is nested begins and ends inside: equal times would leave open which one is around which.
    if (stop - at > 2) nest(random, rank, at + 1, stop - 1, depth + 1);
    at = stop;
  }
}

TEST(PartTimes, AreWhatEachInstantSays) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    RankTrace rank = cpu_rank();
    // Pieces are of the step in which they begin: no range crosses a step's end here.
    for (int step = 0; step < 3; ++step) {
      rank.steps.push_back({step, step * 100, step * 100 + 100});
      nest(random, rank, step * 100, step * 100 + 100, 0);
    }
    for (Nanoseconds at = 0; at < 300;) {
      const auto stop = std::min<Nanoseconds>(300, at + static_cast<Nanoseconds>(random() % 40));
      compute(rank, at, stop);
      at = stop + static_cast<Nanoseconds>(random() % 10);
    }
    in_order(rank.host_ranges);
    const std::int64_t steps[] = {2, 0};
    EXPECT_EQ(times_of_parts(rank, names(), steps), times_by_the_instant(rank, steps, 300));
  }
}

}  // namespace
}  // namespace lockstep::analyzer

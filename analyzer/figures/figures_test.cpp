#include "analyzer/figures/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace lockstep::analyzer {
namespace {

constexpr std::int64_t ms = 1'000'000;

// Two ranks and four steps, of which the first is warm-up: rank 0 computes 60 of each 100 ms and rank 1 waits
// 20 of them; step 3 takes twice as long, in which nothing computes.
Report sample() {
  Report report;
  report.steady = SteadyReport{.steps = {1, 2, 3}, .left_out = {}, .ranks = {}};
  for (std::int64_t step = 0; step < 4; ++step)
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      StepReport one{.step = step, .rank = rank, .begin_ns = 0, .end_ns = 0, .measures = {}};
      one.measures.window_ns = (step == 0 ? 900 : step == 3 ? 200 : 100) * ms;
      report.steps.push_back(one);
    }
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    RankReport one;
    one.rank = rank;
    one.dropped_events = 3;
    one.measures.window_ns = 400 * ms;
    one.measures.communication_ns = 100 * ms;
    one.measures.overlap_ns = rank == 0 ? 40 * ms : 20 * ms;
    one.measures.overlap_ratio = 0.01 * static_cast<double>(one.measures.overlap_ns / ms);
    one.measures.exposed_communication_ns = one.measures.communication_ns - one.measures.overlap_ns;
    one.measures.partition[Cause::compute] = 180 * ms;
    one.measures.partition[Cause::barrier_wait] = rank == 0 ? 0 : 60 * ms;
    one.measures.collective_wait_ns = rank == 0 ? 0 : 60 * ms;
    one.measures.hidden_collective_wait_ns = 6 * ms;
    report.steady->ranks.push_back(one);
    report.ranks.push_back(one);
  }
  report.efficiency.load_balance = 0.9;
  report.account.goodput = 0.75;
  report.account.ranks.resize(2);
  report.account.spent[Spending::checkpoint] = 3000 * ms;
  GroupReport group{.name = "dp", .ranks = {0, 1}, .operations = {}};
  group.operations.emplace_back();
  group.operations.back().operation = Operation::all_reduce;
  group.operations.back().busbw_gbps = 12.5;
  report.groups.push_back(group);
  PipelineReport pipeline;
  pipeline.group = "pp";
  pipeline.bubble_ratio = 0.2;
  report.pipeline.push_back(pipeline);
  return report;
}

std::optional<double> value(const Report& report, std::string_view name, std::string_view scope = "") {
  for (const FigureValues& figure : figures_of(report))
    if (figure.kind->name == name) return figure.of(scope);
  return std::nullopt;
}

TEST(Figures, AreOfSteadySteps) {
  const Report report = sample();
  EXPECT_DOUBLE_EQ(*value(report, "step_time"), 100.0 * ms);  // the median: step 3 does not decide
  EXPECT_DOUBLE_EQ(*value(report, "throughput"), 3 / 0.4);    // but counts here
  EXPECT_DOUBLE_EQ(*value(report, "compute"), 60.0 * ms);
  EXPECT_DOUBLE_EQ(*value(report, "compute", "rank 1"), 60.0 * ms);
  EXPECT_DOUBLE_EQ(*value(report, "barrier_wait"), 10.0 * ms);
  EXPECT_DOUBLE_EQ(*value(report, "barrier_wait", "rank 1"), 20.0 * ms);
  EXPECT_DOUBLE_EQ(*value(report, "collective_wait"), 12.0 * ms);
  EXPECT_DOUBLE_EQ(*value(report, "compute_share"), 0.45);
  EXPECT_DOUBLE_EQ(*value(report, "overlap_ratio"), 0.3);
  EXPECT_DOUBLE_EQ(*value(report, "exposed_communication"), 140.0 * ms / 6);
  EXPECT_DOUBLE_EQ(*value(report, "exposed_communication_share"), 140.0 / 800);
}

TEST(Figures, OfGroupsPhasesAndTheRun) {
  const Report report = sample();
  EXPECT_DOUBLE_EQ(*value(report, "busbw", "group dp all_reduce"), 12.5);
  EXPECT_DOUBLE_EQ(*value(report, "bubble_ratio", "group pp"), 0.2);
  EXPECT_DOUBLE_EQ(*value(report, "load_balance"), 0.9);
  EXPECT_DOUBLE_EQ(*value(report, "goodput"), 0.75);
  EXPECT_DOUBLE_EQ(*value(report, "phase_time", "phase checkpoint"), 1500.0 * ms);
  EXPECT_DOUBLE_EQ(*value(report, "dropped_events"), 6);
  EXPECT_FALSE(value(report, "parallel_efficiency"));
  EXPECT_FALSE(value(report, "peak_memory"));
  EXPECT_FALSE(value(report, "lateness", "rank 0"));
}

// A figure that is not known is absent, never 0: a gate that holds it to something fails, and says so.
TEST(Figures, WhatIsNotKnownOfOneRankIsNotKnown) {
  Report report = sample();
  report.steady->ranks[1].measures.waits_known = false;
  EXPECT_FALSE(value(report, "barrier_wait"));
  EXPECT_FALSE(value(report, "collective_wait"));
  EXPECT_TRUE(value(report, "compute"));
  report.steady->ranks[1].measures.known = false;
  EXPECT_FALSE(value(report, "compute"));
  EXPECT_FALSE(value(report, "overlap_ratio"));
  EXPECT_TRUE(value(report, "step_time"));
}

TEST(Figures, WithoutStepsSharesAreLeft) {
  Report report = sample();
  report.steady.reset();
  report.steps.clear();
  EXPECT_FALSE(value(report, "step_time"));
  EXPECT_FALSE(value(report, "throughput"));
  EXPECT_FALSE(value(report, "compute"));
  EXPECT_DOUBLE_EQ(*value(report, "compute_share"), 0.45);
}

TEST(Figures, WithoutASteadyPartAllStepsCount) {
  Report report = sample();
  report.steady.reset();
  EXPECT_DOUBLE_EQ(*value(report, "throughput"), 4 / 1.3);
}

TEST(Figures, AreListedUnderTheirNamesOnce) {
  std::set<std::string_view> names;
  for (const FigureKind* kind : figure_kinds()) {
    EXPECT_TRUE(names.insert(kind->name).second) << kind->name;
    EXPECT_EQ(find_figure_kind(kind->name), kind);
    EXPECT_FALSE(kind->meaning.empty()) << kind->name;
    EXPECT_GE(kind->floor, 0) << kind->name;
  }
  EXPECT_EQ(find_figure_kind("step-time"), nullptr);
#define LOCKSTEP_FIGURE(kind) EXPECT_EQ(figures::kind.name, #kind);
#include "analyzer/figures/figures.def"
}

TEST(FormatFigure, AsPeopleWriteIt) {
  EXPECT_EQ(format_figure(412e6, Unit::nanoseconds), "412 ms");
  EXPECT_EQ(format_figure(0.8634, Unit::share), "86.3 %");
  EXPECT_EQ(format_figure(2.434, Unit::per_second), "2.43 /s");
  EXPECT_EQ(format_figure(12.34, Unit::gigabytes_per_second), "12.3 GB/s");
  EXPECT_EQ(format_figure(2e6, Unit::bytes), "2.00 MB");
  EXPECT_EQ(format_figure(7, Unit::count), "7");
}

}  // namespace
}  // namespace lockstep::analyzer

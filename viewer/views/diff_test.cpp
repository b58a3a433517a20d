#include "viewer/views/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>

#include "viewer/testing/scene_of.h"
#include "viewer/testing/synthetic_job.h"

namespace lockstep::viewer {
namespace {

using analyzer::Cause;
using testing::HasSubstr;

// A: nobody is late. B: one of two ranks computes 200 ns longer, and the other waits as long.
class Diff : public testing::Test {
 protected:
  std::unique_ptr<Scene> a_ = scene_of(synthetic_job({.late = {0, 0}, .steps = 4}));
  std::unique_ptr<Scene> b_ = scene_of(synthetic_job({.late = {0, 200}, .steps = 6}));
};

TEST_F(Diff, PairsTheStepsThatBothHave) {
  const RunDiff diff = compare(*a_, *b_);
  ASSERT_EQ(diff.steps.size(), 4u);
  EXPECT_TRUE(diff.by_number);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(diff.steps[i].step_a, static_cast<std::int64_t>(i));
    EXPECT_EQ(diff.steps[i].step_b, static_cast<std::int64_t>(i));
    EXPECT_EQ(diff.steps[i].a.ranks, 2);
  }
}

TEST_F(Diff, SaysWhatEachCauseCostsMore) {
  const RunDiff diff = compare(*a_, *b_);
  ASSERT_TRUE(diff.split) << diff.why_empty;
  const auto change = [&](Cause cause) {
    return diff.split->causes[static_cast<std::size_t>(cause)].time.change_ns();
  };
  EXPECT_EQ(change(Cause::compute), 100) << "the mean of 0 and 200";
  EXPECT_EQ(change(Cause::barrier_wait), 100);
  EXPECT_EQ(change(Cause::transfer), -200);
  const std::vector<analyzer::CauseDiff> all = changed_causes(*diff.split);
  EXPECT_EQ(all.front().cause, Cause::transfer);
  for (std::size_t i = 1; i < all.size(); ++i)
    EXPECT_GE(std::abs(all[i - 1].time.change_ns()), std::abs(all[i].time.change_ns()));
  const std::vector<analyzer::RankDiff> one = most_changed_ranks(*diff.split, 1);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].rank, 1);
  EXPECT_EQ(most_changed_ranks(*diff.split, 9).size(), 2u);
}

TEST_F(Diff, OfARunWithItselfIsNothing) {
  const RunDiff diff = compare(*a_, *a_);
  ASSERT_TRUE(diff.split) << diff.why_empty;
  for (const analyzer::CauseDiff& cause : changed_causes(*diff.split)) EXPECT_EQ(cause.time.change_ns(), 0);
  EXPECT_EQ(sentence(diff).find("above all"), std::string::npos);
}

// B begins an hour later and its steps are as far apart: the same part of the same step is beside it.
TEST_F(Diff, ViewsShowTheSamePartOfTheSameStep) {
  const auto later = scene_of(synthetic_job({.late = {0, 200}, .steps = 4, .begin = 3'600'000'000'000}));
  const RunDiff diff = compare(*a_, *later);
  const StepAlignment alignment(diff, a_->timeline(), later->timeline());
  for (std::int64_t step = 0; step < 4; ++step) {
    const Nanoseconds of_a = a_->timeline().ranks[0].steps[static_cast<std::size_t>(step)].begin;
    const Nanoseconds of_b = later->timeline().ranks[0].steps[static_cast<std::size_t>(step)].begin;
    const TimeView view{of_a + 10, 0, 100};
    const TimeView other = alignment.view_of_b(view);
    EXPECT_EQ(other.begin, of_b + 10);
    EXPECT_EQ(other.span, 100);
    EXPECT_EQ(alignment.view_of_a(other).begin, view.begin) << "and back";
  }
}

// One run lost a rank: means over the ranks that are left would tell of the loss, and call it a change.
TEST_F(Diff, WhatOneRunLostIsNoChange) {
  const SyntheticOptions options{.late = {0, 0, 300, 100}, .steps = 3};
  analyzer::Job damaged = synthetic_job(options);
  damaged.ranks[2].activities.clear();
  damaged.ranks[2].communications.clear();
  const auto whole = scene_of(synthetic_job(options)), cut = scene_of(damaged);
  for (const bool turned : {false, true}) {
    const RunDiff diff = turned ? compare(*cut, *whole) : compare(*whole, *cut);
    ASSERT_TRUE(diff.split) << diff.why_empty;
    EXPECT_EQ(diff.split->ranks_left_out, std::vector<std::int32_t>{2});
    EXPECT_EQ(diff.split->ranks.size(), 3u);
    EXPECT_EQ(diff.steps.front().a.ranks, 3);
    EXPECT_EQ(diff.steps.front().b.ranks, 3);
    EXPECT_LE(std::abs(diff.split->causes[static_cast<std::size_t>(Cause::compute)].time.change_ns()), 1)
        << "parts are rounded to sum to the step";
    EXPECT_THAT(sentence(diff), HasSubstr(" Without rank 2, of which one run has no times."));
  }
  EXPECT_TRUE(compare(*whole, *whole).split->ranks_left_out.empty());
}

// A job that grew is compared as a whole.
TEST_F(Diff, OfJobsOfDifferentSizeAllRanksCount) {
  const auto larger = scene_of(synthetic_job({.late = {0, 0, 300}, .steps = 4}));
  const RunDiff diff = compare(*a_, *larger);
  ASSERT_TRUE(diff.split) << diff.why_empty;
  EXPECT_TRUE(diff.split->ranks_left_out.empty());
  EXPECT_TRUE(diff.split->ranks.empty());
  EXPECT_EQ(diff.steps.front().a.ranks, 2);
  EXPECT_EQ(diff.steps.front().b.ranks, 3);
}

// Runs of random steps, against every view that there could be.
TEST(StepAlignment, TheFirstViewHoldsBothRunsAndNoMore) {
  std::mt19937_64 random(5);
  const auto length = [&](std::uint64_t most) { return static_cast<Nanoseconds>(1 + random() % most); };
  for (int round = 0; round < 100; ++round) {
    std::array<std::vector<StepSpan>, 2> steps;
    std::array<Timeline, 2> runs;
    RunDiff diff;
    const std::int64_t count = 1 + static_cast<std::int64_t>(random() % 6);
    for (std::size_t i = 0; i < 2; ++i) {
      const Nanoseconds begin = 1'000 + length(1'000);
      Nanoseconds at = begin;
      for (std::int64_t number = 0; number < count; ++number) {
        const Nanoseconds end = at + 10 + length(random() % 3 == 0 ? 300 : 60);
        steps[i].push_back({number, at, end});
        at = end;
      }
      runs[i].ranks.emplace_back().steps = steps[i];
      runs[i].focus = {begin - length(200), at + length(100)};
      runs[i].content = {runs[i].focus.begin - length(50), runs[i].focus.end + length(50)};
    }
    for (std::int64_t number = 0; number < count; ++number) diff.steps.push_back({number, number, {}, {}});
    const StepAlignment alignment(diff, runs[0], runs[1]);
    const auto ends_beside = [&](Nanoseconds middle) {
      const TimeView of_b = alignment.view_of_b({middle, 0, 0});
      const Nanoseconds moved = middle - of_b.begin;
      return TimeRange{std::min(runs[0].focus.begin, runs[1].focus.begin + moved),
                       std::max(runs[0].focus.end, runs[1].focus.end + moved)};
    };
    const auto around = [](const TimeView& view, TimeRange range) {
      return view.begin <= range.begin &&
             static_cast<double>(range.end - view.begin) - view.fraction <= view.span;
    };
    const TimeView a = clamp(fit(alignment.extent_in_a().whole), alignment.extent_in_a().reach);
    EXPECT_EQ(a, fit(alignment.extent_in_a().whole)) << "within reach";
    const TimeView b = alignment.view_of_b(a);
    EXPECT_TRUE(around(a, runs[0].focus)) << round;
    EXPECT_TRUE(around(b, runs[1].focus)) << round;
    Nanoseconds shortest = std::numeric_limits<Nanoseconds>::max();
    for (Nanoseconds middle = 0; middle < 6'000; ++middle) {
      const TimeRange both = ends_beside(middle);
      shortest = std::min(shortest, 2 * std::max(middle - both.begin, both.end - middle));
    }
    const TimeRange whole = alignment.extent_in_a().whole;
    EXPECT_NEAR(static_cast<double>(whole.end - whole.begin), static_cast<double>(shortest), 6) << round;
    // From B's side too: F may be pressed there.
    const TimeView own_b = fit(alignment.extent_in_b().whole);
    EXPECT_TRUE(around(own_b, runs[1].focus)) << round;
    EXPECT_TRUE(around(alignment.view_of_a(own_b), runs[0].focus)) << round;
  }
}

TEST_F(Diff, SaysAtWhichStepTheTimelinesAreAligned) {
  const RunDiff diff = compare(*a_, *b_);
  const StepAlignment alignment(diff, a_->timeline(), b_->timeline());
  const StepSpan& step = a_->timeline().ranks[0].steps[2];
  const TimeView of_a = fit({step.begin, step.end});
  EXPECT_EQ(alignment.aligned_at(of_a, alignment.view_of_b(of_a)), "step 2");
  RunDiff by_position = diff;
  for (StepPair& pair : by_position.steps) ++pair.step_b;
  const StepAlignment other(by_position, a_->timeline(), b_->timeline());
  EXPECT_EQ(other.aligned_at(of_a, other.view_of_b(of_a)), "step 2 of A and step 3 of B");
  EXPECT_EQ(StepAlignment(RunDiff{}, a_->timeline(), b_->timeline()).aligned_at(of_a, of_a), "");
}

TEST_F(Diff, RunsWithoutStepsSaySo) {
  const auto silent = scene_of(analyzer::Job{}, analyzer::Analysis{});
  EXPECT_THAT(sentence(compare(*a_, *silent)), HasSubstr("the second run has no steps"));
  EXPECT_THAT(sentence(compare(*silent, *a_)), HasSubstr("the first run has no steps"));
  EXPECT_TRUE(compare(*silent, *silent).steps.empty());
}

}  // namespace
}  // namespace lockstep::viewer

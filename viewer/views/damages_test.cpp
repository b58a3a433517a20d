#include "viewer/views/damages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "viewer/testing/view_fixture.h"

namespace lockstep::viewer {
namespace {

std::unique_ptr<Scene> run_with(std::vector<analyzer::Warning> warnings) {
  analyzer::Job job = synthetic_job();
  job.warnings = std::move(warnings);
  return View::load(job);
}

const analyzer::Warning kAssumed{"clocks_assumed", "one host is assumed", analyzer::kNoRank};
const analyzer::Warning kCut{"file_damaged", "rank-1 is cut", 1};
const analyzer::Warning kDropped{"events_dropped", "3 events dropped", 2};

TEST(Damages, OfAWholeRunThereAreNone) {
  const auto run = run_with({});
  EXPECT_EQ(damages_of(*run, nullptr).count, 0U);
  EXPECT_EQ(damages_of(*run, nullptr).first, "");
  EXPECT_EQ(damages_of(*run, run.get()).count, 0U);
}

TEST(Damages, WhatIsLostComesBeforeWhatWasAssumed) {
  const auto assumed = run_with({kAssumed}), all = run_with({kAssumed, kCut, kDropped});
  EXPECT_EQ(damages_of(*assumed, nullptr).first, kAssumed.message);
  EXPECT_EQ(damages_of(*all, nullptr).first, kCut.message) << "the first of those that are";
  EXPECT_EQ(damages_of(*all, nullptr).count, 3U);
}

TEST(Damages, OfTwoRunsTheWorseOnesComeFirst) {
  const auto assumed = run_with({kAssumed}), cut = run_with({kAssumed, kCut});
  EXPECT_EQ(damages_of(*assumed, cut.get()).first, "B: " + kCut.message);
  EXPECT_EQ(damages_of(*cut, assumed.get()).first, "A: " + kCut.message);
  EXPECT_EQ(damages_of(*assumed, cut.get()).count, 3U);
  EXPECT_EQ(damages_of(*assumed, assumed.get()).first, "A: " + kAssumed.message);
}

TEST(Damages, ARankThatIsNotThereIsOne) {
  analyzer::Job job = synthetic_job();
  job.ranks_missing = {static_cast<std::int32_t>(job.ranks.size())};
  job.warnings = {kAssumed};
  const auto run = View::load(job);
  const Damages damages = damages_of(*run, nullptr);
  EXPECT_EQ(damages.count, 2U);
  EXPECT_THAT(damages.first, testing::HasSubstr("no trace"));
}

TEST(Damages, ALongMessageIsCut) {
  const auto run = run_with({{"file_damaged", std::string(100'000, 'x'), 1}});
  EXPECT_EQ(damages_of(*run, nullptr).first, std::string(1'000, 'x'));
}

}  // namespace
}  // namespace lockstep::viewer

#include "viewer/views/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "viewer/testing/scene_of.h"
#include "viewer/testing/synthetic_job.h"

namespace lockstep::viewer {
namespace {

using testing::HasSubstr;

class GoTo : public testing::Test {
 protected:
  Command go(const std::string& text) const { return parse_goto(*scene_, text).value(); }
  std::string error(const std::string& text) const {
    const auto parsed = parse_goto(*scene_, text);
    return parsed.ok() ? "" : parsed.error().message;
  }
  std::unique_ptr<Scene> scene_ = scene_of(synthetic_job());
};

TEST_F(GoTo, AStepOfARank) {
  const Command command = go("step=1,rank=3");
  EXPECT_EQ(command.rank, 3u);
  ASSERT_TRUE(command.range.has_value());
  const StepSpan& step = scene_->timeline().ranks[3].steps[1];
  EXPECT_EQ(command.range->begin, step.begin);
  EXPECT_EQ(command.range->end, step.end);
}

TEST_F(GoTo, AStepOfAllRanksIsFromTheFirstBeginToTheLastEnd) {
  const Command command = go("step=2");
  for (const RankTracks& rank : scene_->timeline().ranks) {
    EXPECT_LE(command.range->begin, rank.steps[2].begin);
    EXPECT_GE(command.range->end, rank.steps[2].end);
  }
}

TEST_F(GoTo, ATimeAndACollective) {
  const Command time = go("time=1us");
  EXPECT_LT(time.range->begin, scene_->timeline().origin + 1000);
  EXPECT_GT(time.range->end, scene_->timeline().origin + 1000);
  const Command collective = go("collective=2");
  EXPECT_EQ(scene_->collectives()[*collective.collective].id, 2);
}

TEST_F(GoTo, SaysWhatTheRunHasInstead) {
  EXPECT_THAT(error("step=9"), HasSubstr("steps 0 to 2"));
  EXPECT_THAT(error("rank=9"), HasSubstr("4 ranks"));
  EXPECT_THAT(error("collective=77"), HasSubstr("it has 3"));
  EXPECT_THAT(error("time=1s"), HasSubstr("ends"));
  for (const char* const text : {"", "x", "step", "step=", "step=1x", "=3", "step=1,,rank=2"})
    EXPECT_NE(error(text), "") << text;
}

TEST(CheckGoTo, NeedsNoRun) {
  EXPECT_TRUE(check_goto("step=12,rank=3").ok());
  EXPECT_FALSE(check_goto("stpe=12").ok());
}

}  // namespace
}  // namespace lockstep::viewer

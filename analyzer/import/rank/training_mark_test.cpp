#include "analyzer/import/rank/training_mark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

RankImport take(const std::string& mark) {
  RankImport import;
  import.trace.file = "rank-0.lst";
  EXPECT_TRUE(is_training_mark(mark));
  take_training_mark(mark, import);
  return import;
}

TEST(TrainingMark, TakesWhatIsTold) {
  const RankImport import =
      take("lockstep.training parameters=124000000  parameter_bytes=2 samples=4 accumulation=8 gathers=0");
  EXPECT_THAT(import.warnings, IsEmpty());
  TrainingSetup expected;
  expected.parameters = 124'000'000;
  expected.parameter_bytes = 2;
  expected.samples = 4;
  expected.accumulation = 8;
  expected.gathers = 0;
  EXPECT_EQ(import.trace.training, expected);
}

// Table 1 of the ZeRO paper: stage 1 divides the optimizer's state, 2 gradients too, 3 parameters too.
TEST(TrainingMark, StagesOfZeroDivideMoreAndMore) {
  for (int stage = 0; stage <= 3; ++stage) {
    const RankImport import =
        take("lockstep.training zero_stage=" + std::to_string(stage) + " data_parallel=8");
    ASSERT_TRUE(import.trace.training);
    EXPECT_EQ(import.trace.training->optimizer_over, stage >= 1 ? 8 : 1);
    EXPECT_EQ(import.trace.training->gradients_over, stage >= 2 ? 8 : 1);
    EXPECT_EQ(import.trace.training->parameters_over, stage >= 3 ? 8 : 1);
  }
}

TEST(TrainingMark, WhatIsSaidSinglyGoesBeforeTheStage) {
  const RankImport import = take("lockstep.training data_parallel=8 zero_stage=3 parameters_over=4");
  EXPECT_EQ(import.trace.training->parameters_over, 4);
  EXPECT_EQ(import.trace.training->gradients_over, 8);
}

TEST(TrainingMark, WhatCannotBeReadIsNamedAndTheRestTaken) {
  for (const char* wrong :
       {"paramters=3", "samples=many", "samples=-1", "samples=0", "samples=", "samples=99999999999999999999",
        "zero_stage=4", "samples", "=3", "parameter_bytes=5000"}) {
    const RankImport import = take(std::string("lockstep.training ") + wrong + " accumulation=2");
    ASSERT_THAT(import.warnings, SizeIs(1)) << wrong;
    EXPECT_EQ(import.warnings[0].code, "training_mark_unreadable");
    EXPECT_THAT(import.warnings[0].message, HasSubstr("rank-0.lst"));
    const std::string word = wrong;
    EXPECT_THAT(import.warnings[0].message, HasSubstr(word.substr(0, word.find('='))));
    TrainingSetup expected;
    expected.accumulation = 2;
    EXPECT_EQ(import.trace.training, expected) << wrong;
  }
}

TEST(TrainingMark, NonsenseIsNotListedWithoutEnd) {
  std::string mark = "lockstep.training";
  for (int i = 0; i < 100'000; ++i) mark += " a";
  EXPECT_THAT(take(mark).warnings, SizeIs(4));
}

TEST(TrainingMark, OtherNamesAreNone) {
  for (const char* name : {"", "lockstep.training", "training parameters=3", "lockstep.trainingparameters=3"})
    EXPECT_FALSE(is_training_mark(name)) << name;
}

}  // namespace
}  // namespace lockstep::analyzer

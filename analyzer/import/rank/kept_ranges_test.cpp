// Which host ranges an import keeps.
#include "analyzer/import/rank/kept_ranges.h"

#include <gtest/gtest.h>

#include <string>

namespace lockstep::analyzer {
namespace {

TEST(KeptRanges, LongOnesWhateverTheyAreCalled) {
  KeptRanges kept;
  EXPECT_TRUE(kept.keeps(5, 5 + kLongHostRange));
  EXPECT_TRUE(kept.keeps(5, 5 + kLongHostRange, "aten::mm"));
  EXPECT_FALSE(kept.keeps(5, 4 + kLongHostRange));
  EXPECT_FALSE(kept.keeps(5, 4 + kLongHostRange, "aten::mm"));
}

TEST(KeptRanges, ShortOnesThatTellOfStepsOrPhases) {
  KeptRanges kept;
  for (int again = 0; again < 2; ++again)
    for (const char* name : {"Optimizer.step#AdamW.step", "forward of GPT", "DistributedDataParallel.forward",
                             "FullyShardedDataParallel.forward", "forward", "val_step", "evaluation",
                             "checkpoint: torch.save", "torch.compile", "checkpoint: save (background)"})
      EXPECT_TRUE(kept.keeps(0, 300'000, name)) << name;
  for (const char* name : {"", "aten::mm", "c10d::allreduce_", "step", "forward_step", "CheckpointFunction"})
    EXPECT_FALSE(kept.keeps(0, 300'000, name)) << name;
}

// A backward pass has a range for each operator, and one of them says that the rank trains.
TEST(KeptRanges, OneOfThoseThatSayThatTheRankTrains) {
  KeptRanges kept;
  EXPECT_TRUE(kept.keeps(0, 10, "autograd::engine::evaluate_function: AddmmBackward0"));
  for (const char* name :
       {"autograd::engine::evaluate_function: AddmmBackward0",
        "autograd::engine::evaluate_function: MulBackward0", "backward", "Optimizer.zero_grad#SGD.zero_grad"})
    EXPECT_FALSE(kept.keeps(0, 10, name)) << name;
  EXPECT_TRUE(kept.keeps(0, 10, "Optimizer.step#SGD.step"));
}

TEST(KeptRanges, AllIfAsked) {
  KeptRanges kept(true);
  EXPECT_TRUE(kept.keeps(0, 1));
  EXPECT_TRUE(kept.keeps(0, 1, "aten::mm"));
}

// With names of their own (emit_nvtx's op_id), more than are remembered.
TEST(KeptRanges, AnyNumberOfNames) {
  KeptRanges kept;
  for (int i = 0; i < 50'000; ++i) ASSERT_FALSE(kept.keeps(0, 1, "aten::mm, op_id = " + std::to_string(i)));
  EXPECT_TRUE(kept.keeps(0, 1, "val_step"));
}

}  // namespace
}  // namespace lockstep::analyzer

// Which names of ranges tell where steps lie.
#include "analyzer/model/step_names.h"

#include <gtest/gtest.h>

namespace lockstep::analyzer {
namespace {

TEST(StepNames, SayWhatARangeTells) {
  EXPECT_EQ(step_name("Optimizer.step#AdamW.step"), StepName::optimizer);
  EXPECT_EQ(step_name("DistributedDataParallel.forward"), StepName::pass);
  EXPECT_EQ(step_name("FullyShardedDataParallel.forward"), StepName::pass);
  EXPECT_EQ(step_name("forward of GPT"), StepName::pass);
  EXPECT_EQ(step_name("forward"), StepName::part);
  for (const char* name : {"backward", "Optimizer.zero_grad#SGD.zero_grad",
                           "autograd::engine::evaluate_function: AddmmBackward0"})
    EXPECT_EQ(step_name(name), StepName::training) << name;
  for (const char* name : {"", "forward_step", "MyModel.forward", "backward_step", "aten::mm", "optimizer"})
    EXPECT_EQ(step_name(name), StepName::none) << name;
}

}  // namespace
}  // namespace lockstep::analyzer

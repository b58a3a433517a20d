#include "analyzer/import/rank/passes.h"

#include <gtest/gtest.h>

#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {
namespace {

void expect_pass(std::string_view name, Pass pass, std::int32_t microbatch) {
  const std::optional<NamedPass> found = microbatch_pass(name);
  ASSERT_TRUE(found) << name;
  EXPECT_EQ(found->pass, pass) << name;
  EXPECT_EQ(found->microbatch, microbatch) << name;
}

TEST(PassNames, OfMegatron) {
  expect_pass("forward_step", Pass::forward, -1);
  expect_pass("backward_step", Pass::backward, -1);
  expect_pass("megatron/core/pipeline_parallel/schedules.py(264): forward_step", Pass::forward, -1);
  expect_pass("forward-compute", Pass::forward, -1);
  expect_pass("forward_step 12", Pass::forward, -1);  // which may count iterations
}

TEST(PassNames, OfDeepSpeed) {
  expect_pass("deepspeed/runtime/pipe/engine.py(670): _exec_forward_pass", Pass::forward, -1);
  expect_pass("PipelineEngine._exec_backward_pass", Pass::backward, -1);
  expect_pass("ForwardPass", Pass::forward, -1);
  expect_pass("DeepSpeedEngine.forward", Pass::forward, -1);
  expect_pass("DeepSpeedEngine.backward", Pass::backward, -1);
}

TEST(PassNames, OfPyTorch) {
  expect_pass("Forward 3", Pass::forward, 3);
  expect_pass("Backward 0", Pass::backward, 0);
  expect_pass("PP:1F3", Pass::forward, 3);
  expect_pass("PP:12B30", Pass::backward, 30);
  expect_pass("PP:0I2", Pass::backward, 2);
  expect_pass("torch/distributed/pipelining/stage.py(700): forward_one_chunk", Pass::forward, -1);
}

TEST(PassNames, OthersNameNoPass) {
  for (const char* name : {"", "step", "forward", "MyModel.forward", "nn.Module: Linear_0", "ProfilerStep#4",
                           "feed_forward_step", "forward_step_func", "Forward layer 3", "Forward",
                           "PP:0SEND_F3", "PP:F3", "PP:0F", "Forward 99999999999", "aten::linear_backward",
                           "forward_backward_pipelining_without_interleaving"})
    EXPECT_FALSE(microbatch_pass(name)) << name;
}

PassRange range(Nanoseconds begin, Nanoseconds end, Pass pass, std::int32_t microbatch = -1) {
  return {begin, end, {pass, microbatch}};
}

Computation computation(const RankTrace& trace, std::size_t activity) {
  const std::uint32_t index = trace.activities.at(activity).compute;
  return index == kNone ? Computation{} : trace.computations.at(index);
}

TEST(Passes, GoByTheLaunchAndCountWithinTheirStep) {
  JobBuilder job;
  job.rank(0).step(7, 0, 100).step(8, 100, 200);
  job.rank(0).compute(10, 300, "a").launched(5, 6).compute(300, 301, "b").launched(25, 26);
  job.rank(0).compute(301, 302, "c").launched(45, 46).compute(302, 303, "between").launched(50, 51);
  job.rank(0).compute(303, 304, "d").launched(105, 106).compute(304, 305, "without a launch");
  RankTrace trace = job.build().ranks.at(0);
  give_passes({range(100, 110, Pass::forward), range(0, 10, Pass::forward), range(20, 30, Pass::forward),
               range(40, 50, Pass::backward), range(42, 48, Pass::forward)},
              trace);
  EXPECT_EQ(computation(trace, 0), (Computation{-1, 0, Pass::forward}));
  EXPECT_EQ(computation(trace, 1), (Computation{-1, 1, Pass::forward}));
  EXPECT_EQ(computation(trace, 2), (Computation{-1, 0, Pass::backward}));  // the outer range
  EXPECT_EQ(computation(trace, 3), Computation{});
  EXPECT_EQ(computation(trace, 4), (Computation{-1, 0, Pass::forward}));  // counted anew in each step
  EXPECT_EQ(computation(trace, 5), Computation{});
  EXPECT_EQ(trace.computations.size(), 3u);
}

TEST(Passes, ANumberInTheNameCounts) {
  JobBuilder job;
  job.rank(0).compute(10, 20).launched(5, 6).compute(20, 30).launched(15, 16);
  RankTrace trace = job.build().ranks.at(0);
  give_passes({range(0, 10, Pass::backward, 3), range(10, 20, Pass::backward, 2)}, trace);
  EXPECT_EQ(computation(trace, 0).microbatch, 3);
  EXPECT_EQ(computation(trace, 1).microbatch, 2);
}

}  // namespace
}  // namespace lockstep::analyzer

// Which names of ranges say that a job does not train.
#include "analyzer/account/phase_names.h"

#include <gtest/gtest.h>

namespace lockstep::analyzer {
namespace {

TEST(PhaseNames, SayWhatAJobDoes) {
  for (const char* name :
       {"torch.save", "torch.load", "checkpoint", "Save_Checkpoint", "save_checkpoint step 10",
        "checkpoint: torch.save", "torch.distributed.checkpoint.state_dict_saver.save"})
    EXPECT_EQ(phase_of_range(name), Phase::checkpoint) << name;
  for (const char* name : {"_compile.compile_inner (dynamo_timed)", "compilation", "Compile"})
    EXPECT_EQ(phase_of_range(name), Phase::compilation) << name;
  for (const char* name : {"evaluation", "evaluate", "Validation", "[pl][profile][_EvaluationLoop].advance",
                           "[pl][profile][Strategy]DDPStrategy.validation_step"})
    EXPECT_EQ(phase_of_range(name), Phase::evaluation) << name;
  for (const char* name : {"start-up: imports", "init_process_group", "setup"})
    EXPECT_EQ(phase_of_range(name), Phase::start_up) << name;
  EXPECT_EQ(phase_of_range("checkpoint: torch.save (background)"), Phase::checkpoint_beside);
}

TEST(PhaseNames, ActivationCheckpointingSavesNothing) {
  for (const char* name : {"CheckpointFunction", "CheckpointFunctionBackward", "checkpointing", "forward",
                           "torch.utils.checkpoint", "retrieval", "medieval", "TorchDynamo Cache Lookup",
                           "Torch-Compiled Region: 0/0", "", "save", "model.eval_metric"})
    EXPECT_EQ(phase_of_range(name), std::nullopt) << name;
}

}  // namespace
}  // namespace lockstep::analyzer

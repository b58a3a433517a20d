// Which names of ranges say that a job does not train.
#include "analyzer/model/phase_names.h"

#include <gtest/gtest.h>

namespace lockstep::analyzer {
namespace {

TEST(PhaseNames, SayWhatAJobDoes) {
  for (const char* name : {"torch.save",
                           "torch.load",
                           "checkpoint",
                           "Save_Checkpoint",
                           "save_checkpoint step 10",
                           "save-checkpoint",
                           "checkpoint: torch.save",
                           "torch.distributed.checkpoint.state_dict_saver.save",
                           "checkpoint_save",
                           "Checkpoint/save",
                           "checkpoint load",
                           "load checkpoint",
                           "load_ckpt",
                           "load_state_dict",
                           "save_ckpt",
                           "save_model",
                           "saving checkpoint",
                           "write_checkpoint",
                           "[pl][profile]save_checkpoint",
                           "[pl][profile][Callback]ModelCheckpoint.save_checkpoint"})
    EXPECT_EQ(phase_of_range(name), Phase::checkpoint) << name;
  for (const char* name : {"_compile.compile_inner (dynamo_timed)", "compilation", "Compile", "torch.compile",
                           "torch._dynamo.convert_frame", "torch._inductor.compile", "triton.compile"})
    EXPECT_EQ(phase_of_range(name), Phase::compilation) << name;
  for (const char* name : {"evaluation",
                           "evaluate",
                           "Validation",
                           "[pl][profile][_EvaluationLoop].advance",
                           "[pl][profile][Strategy]DDPStrategy.validation_step",
                           "[pl][profile][Strategy]DDPStrategy.test_step",
                           "[pl][profile]run_evaluation",
                           "eval",
                           "eval/epoch",
                           "eval_loop",
                           "eval_step",
                           "evaluate_and_print_results",
                           "evaluate_model",
                           "val",
                           "val epoch",
                           "val_loop",
                           "val-step",
                           "validate",
                           "validation_epoch",
                           "validation_loop",
                           "validation_step"})
    EXPECT_EQ(phase_of_range(name), Phase::evaluation) << name;
  for (const char* name :
       {"start-up: imports", "init_process_group", "setup", "startup", "initialization", "load_model",
        "model_setup", "model-and-optimizer-setup", "train/valid/test-data-iterators-setup"})
    EXPECT_EQ(phase_of_range(name), Phase::start_up) << name;
  EXPECT_EQ(phase_of_range("checkpoint: torch.save (background)"), Phase::checkpoint_beside);
}

TEST(PhaseNames, ActivationCheckpointingSavesNothing) {
  for (const char* name :
       {"CheckpointFunction", "CheckpointFunctionBackward", "checkpointing", "forward",
        "torch.utils.checkpoint", "retrieval", "medieval", "TorchDynamo Cache Lookup",
        "Torch-Compiled Region: 0/0", "", "save", "model.eval_metric", "value", "interval step", "loading"})
    EXPECT_EQ(phase_of_range(name), std::nullopt) << name;
}

}  // namespace
}  // namespace lockstep::analyzer

// Each function of PyTorch and of the frameworks above it that the start-up hook's table names
// (lockstep_run_phases.py) is told as a range of its phase, whoever has that framework. Needs a Python, but
// neither them nor torch: stand-ins have what is called.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/model/phase_names.h"
#include "tests/end_to_end/support.h"
#include "trace/reader.h"

namespace lockstep::end_to_end {
namespace {

using analyzer::Phase;
using testing::HasSubstr;

struct Row {
  std::string module, function;
  Phase phase;
  std::string called;  // in the range's name
};

std::vector<Row> rows() {
  const auto save = Phase::checkpoint, evaluate = Phase::evaluation, compile = Phase::compilation;
  const std::string dcp = "torch.distributed.checkpoint.", safetensors = "safetensors.torch.",
                    megatron = "megatron.core.dist_checkpointing.";
  std::vector<Row> all{
      {"torch.serialization", "save", save, "torch.save"},
      {"torch.serialization", "load", save, "torch.load"},
      {"torch.distributed.distributed_c10d", "init_process_group", Phase::start_up, "init_process_group"},
      {dcp + "state_dict_saver", "save", save, dcp + "save"},
      {dcp + "state_dict_saver", "async_save", save, dcp + "async_save"},
      {dcp + "state_dict_loader", "load", save, dcp + "load"},
      {dcp + "state_dict_saver", "save_state_dict", save, dcp + "save_state_dict"},
      {dcp + "state_dict_loader", "load_state_dict", save, dcp + "load_state_dict"},
      {dcp + "_async_process_executor", "_AsyncCheckpointProcess.save", save, dcp + "async_save"},
      {"torch", "compile", compile, "torch.compile"},
      {"torch._inductor.runtime.triton_heuristics", "CachingAutotuner.benchmark_all_configs", compile,
       "autotuning"},
      {"triton.compiler.compiler", "compile", compile, "triton.compile"},
      {"deepspeed.runtime.engine", "DeepSpeedEngine.save_checkpoint", save,
       "DeepSpeedEngine.save_checkpoint"},
      {"deepspeed.runtime.engine", "DeepSpeedEngine.load_checkpoint", save,
       "DeepSpeedEngine.load_checkpoint"},
      {"deepspeed.runtime.engine", "DeepSpeedEngine.save_16bit_model", save,
       "DeepSpeedEngine.save_16bit_model"},
      {"torch.distributed.pipelining.schedules", "_PipelineSchedule.eval", evaluate,
       "the pipeline's schedule"},
      {"deepspeed.runtime.pipe.engine", "PipelineEngine.eval_batch", evaluate, "PipelineEngine.eval_batch"},
      {megatron + "serialization", "save", save, megatron + "save"},
      {megatron + "serialization", "load", save, megatron + "load"},
      {megatron + "strategies.async_utils", "AsyncCallsQueue.maybe_finalize_async_calls", save,
       "megatron AsyncCallsQueue"},
      {"megatron.training.checkpointing", "save_checkpoint", save, "megatron save_checkpoint"},
      {"megatron.training.checkpointing", "load_checkpoint", save, "megatron load_checkpoint"},
      {"megatron.training.training", "evaluate", evaluate, "megatron evaluate"},
      {"transformers.modeling_utils", "PreTrainedModel.save_pretrained", save,
       "PreTrainedModel.save_pretrained"},
      {"torchtitan.components.checkpoint", "CheckpointManager.dcp_save", save, "CheckpointManager.dcp_save"},
      {"torchtitan.components.checkpoint", "CheckpointManager.dcp_load", save, "CheckpointManager.dcp_load"},
      {"torchtitan.components.validate", "Validator.validate", evaluate, "Validator.validate"},
      {"lightning.fabric.fabric", "Fabric.save", save, "Fabric.save"},
      {"lightning.fabric.fabric", "Fabric.load", save, "Fabric.load"},
  };
  for (const char* const what : {"save_file", "load_file", "save", "load", "save_model", "load_model"})
    all.push_back({"safetensors.torch", what, save, safetensors + what});
  for (const char* const what : {"_save_checkpoint", "save_model", "_load_from_checkpoint",
                                 "_load_best_model", "evaluate", "predict"}) {
    const std::string method = std::string("Trainer.") + what;
    all.push_back({"transformers.trainer", method,
                   method.ends_with("evaluate") || method.ends_with("predict") ? evaluate : save, method});
  }
  for (const char* const what : {"save_state", "load_state", "save_model"})
    all.push_back({"accelerate.accelerator", std::string("Accelerator.") + what, save,
                   std::string("Accelerator.") + what});
  for (const std::string package : {"lightning.pytorch", "pytorch_lightning"}) {
    all.push_back({package + ".trainer.trainer", "Trainer.save_checkpoint", save, "Trainer.save_checkpoint"});
    all.push_back(
        {package + ".loops.evaluation_loop", "_EvaluationLoop.run", evaluate, "_EvaluationLoop.run"});
  }
  return all;
}

std::string prefix_of(Phase phase) {
  switch (phase) {
    case Phase::compilation:
      return "compilation: ";
    case Phase::evaluation:
      return "evaluation: ";
    case Phase::start_up:
      return "start-up: ";
    default:
      return "checkpoint: ";
  }
}

// Of the run's one rank, in their order.
std::vector<std::string> phases_in(const std::string& file) {
  const Result<trace::Reader> opened = trace::Reader::open(file);
  if (!opened.ok()) ADD_FAILURE() << opened.error().message;
  if (!opened.ok()) return {};
  std::vector<trace::HostRange> ranges;
  EXPECT_TRUE(opened.value().read(trace::Selection{}, ranges).ok());
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::vector<std::string> names;
  for (const trace::HostRange& range : ranges) {
    const std::string name(opened.value().string(range.name));
    if (analyzer::phase_of_range(name) && name != "start-up: imports") names.push_back(name);
  }
  return names;
}

TEST(RunPhasesTable, TellsEachOfItsFunctionsAsARangeOfItsPhase) {
  if (run({LOCKSTEP_PYTHON, "-c", "pass"}).exit_code != 0)
    GTEST_SKIP() << "SKIPPED: " << LOCKSTEP_PYTHON << " does not run";
  const std::string here = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/pytorch";
  const TemporaryFolder folder;
  const std::string torch = folder / "stand_ins/torch";
  std::filesystem::create_directories(folder / "stand_ins");
  std::filesystem::copy(here + "/stand_ins/torch", torch, std::filesystem::copy_options::recursive);
  // torch itself is there once the hook looks for its functions.
  const std::string text = test::read_whole_file(torch + "/__init__.py");
  folder.write("stand_ins/torch/__init__.py",
               text +
                   "\n\ndef compile(*args):\n    import time\n    time.sleep(0.002)\n"
                   "    return ['compile', *args]\n");
  std::string lines;
  std::vector<std::string> expected;
  for (const Row& row : rows()) {
    lines += fmt::format("{} {}\n", row.module, row.function);
    expected.push_back(prefix_of(row.phase) + row.called);
    EXPECT_EQ(analyzer::phase_of_range(expected.back()), row.phase) << expected.back();
  }
  const std::vector<std::string> job{LOCKSTEP_PYTHON, here + "/run_phases_table_job.py",
                                     folder.write("rows", lines)};
  std::vector<std::string> command{binary("lockstep"), "record", "--quiet", "-o", folder / "run", "--"};
  command.insert(command.end(), job.begin(), job.end());
  const std::vector<std::string> environment{"PYTHONPATH=" + (folder / "stand_ins"), "RANK=0", "WORLD_SIZE=1",
                                             "LOCAL_RANK=0", "PYTHONDONTWRITEBYTECODE=1"};
  const Outcome recorded = run(command, environment), alone = run(job, environment);
  ASSERT_EQ(recorded.exit_code, 0) << recorded.standard_error;
  EXPECT_EQ(recorded.standard_output, alone.standard_output)
      << "arguments and results are the functions' own";
  EXPECT_THAT(alone.standard_output, HasSubstr("Trainer.evaluate with "));
  EXPECT_EQ(phases_in(folder / "run/rank-0.lst"), expected);
  EXPECT_THAT(recorded.standard_error, HasSubstr(fmt::format("rows {}\n", expected.size())))
      << "each row of the table is among those above";
}

}  // namespace
}  // namespace lockstep::end_to_end

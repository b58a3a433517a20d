#include "analyzer/account/phase_names.h"

#include <algorithm>

namespace lockstep::analyzer {
namespace {

enum class Where : std::uint8_t { whole, first, last };  // the name, or how it begins or ends

struct Entry {
  Where where;
  std::string_view text;  // lower case
  Phase phase;
};

// The first that fits counts. Activation checkpointing ("CheckpointFunction", "checkpointing") saves nothing
// to disk: no word alone decides, except where it is the whole name.
constexpr Entry kNames[] = {
    {Where::last, " (background)", Phase::checkpoint_beside},
    // What Lockstep's hook names (tracer/inject/sources/pytorch/hook).
    {Where::first, "compilation", Phase::compilation},
    {Where::first, "checkpoint: ", Phase::checkpoint},
    {Where::first, "evaluation", Phase::evaluation},
    {Where::first, "start-up: ", Phase::start_up},
    // PyTorch: Dynamo's and Inductor's own ranges, and what their compilers are called.
    {Where::last, "(dynamo_timed)", Phase::compilation},
    {Where::first, "torch.compile", Phase::compilation},
    {Where::first, "torch._dynamo.convert_frame", Phase::compilation},
    {Where::first, "torch._inductor.compile", Phase::compilation},
    {Where::first, "triton.compile", Phase::compilation},
    {Where::first, "torch.save", Phase::checkpoint},
    {Where::first, "torch.load", Phase::checkpoint},
    {Where::first, "torch.distributed.checkpoint", Phase::checkpoint},
    {Where::first, "init_process_group", Phase::start_up},
    // Lightning's profilers: "[pl][profile][_EvaluationLoop].advance", "[pl][profile]save_checkpoint".
    {Where::first, "[pl][profile][_evaluationloop]", Phase::evaluation},
    {Where::first, "[pl][profile]save_checkpoint", Phase::checkpoint},
    {Where::first, "[pl][profile]run_evaluation", Phase::evaluation},
    {Where::last, ".validation_step", Phase::evaluation},
    {Where::last, ".test_step", Phase::evaluation},
    {Where::last, ".save_checkpoint", Phase::checkpoint},
    // Names that people give their ranges.
    {Where::whole, "checkpoint", Phase::checkpoint},
    {Where::whole, "checkpoint_save", Phase::checkpoint},
    {Where::whole, "checkpoint_load", Phase::checkpoint},
    {Where::whole, "checkpoint save", Phase::checkpoint},
    {Where::whole, "checkpoint load", Phase::checkpoint},
    {Where::whole, "load_checkpoint", Phase::checkpoint},
    {Where::whole, "load checkpoint", Phase::checkpoint},
    {Where::whole, "load_state_dict", Phase::checkpoint},
    {Where::first, "save_checkpoint", Phase::checkpoint},
    {Where::first, "save-checkpoint", Phase::checkpoint},  // Megatron-LM's timers
    {Where::first, "save checkpoint", Phase::checkpoint},
    {Where::whole, "compile", Phase::compilation},
    {Where::whole, "eval", Phase::evaluation},
    {Where::whole, "eval_loop", Phase::evaluation},
    {Where::whole, "evaluate", Phase::evaluation},
    {Where::whole, "evaluate_and_print_results", Phase::evaluation},
    {Where::whole, "validate", Phase::evaluation},
    {Where::whole, "validation", Phase::evaluation},
    {Where::whole, "validation loop", Phase::evaluation},
    {Where::whole, "startup", Phase::start_up},
    {Where::whole, "setup", Phase::start_up},
    {Where::whole, "initialization", Phase::start_up},
    {Where::whole, "model-and-optimizer-setup", Phase::start_up},
    {Where::whole, "train/valid/test-data-iterators-setup", Phase::start_up},
};

bool same(std::string_view name, std::string_view lower) {
  return std::equal(name.begin(), name.end(), lower.begin(), lower.end(), [](char one, char other) {
    return (one >= 'A' && one <= 'Z' ? static_cast<char>(one - 'A' + 'a') : one) == other;
  });
}

bool fits(const Entry& entry, std::string_view name) {
  if (name.size() < entry.text.size()) return false;
  switch (entry.where) {
    case Where::whole:
      return same(name, entry.text);
    case Where::first:
      return same(name.substr(0, entry.text.size()), entry.text);
    case Where::last:
      return same(name.substr(name.size() - entry.text.size()), entry.text);
  }
  return false;
}

}  // namespace

std::optional<Phase> phase_of_range(std::string_view name) {
  for (const Entry& entry : kNames)
    if (fits(entry, name)) return entry.phase;
  return std::nullopt;
}

}  // namespace lockstep::analyzer

#include "analyzer/account/phase_names.h"

#include <algorithm>

namespace lockstep::analyzer {
namespace {

enum class Where : std::uint8_t { whole, first, last };  // the name, or how it begins or ends

struct Entry {
  Where where;
  std::string_view text;
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
    // Names that people give their ranges, in words: "save_ckpt", "save-ckpt" and "Save ckpt" are one name.
    {Where::whole, "checkpoint", Phase::checkpoint},
    {Where::whole, "checkpoint save", Phase::checkpoint},
    {Where::whole, "checkpoint load", Phase::checkpoint},
    {Where::whole, "load checkpoint", Phase::checkpoint},
    {Where::whole, "load ckpt", Phase::checkpoint},
    {Where::whole, "load state dict", Phase::checkpoint},
    {Where::first, "save checkpoint", Phase::checkpoint},  // and Megatron-LM's timers
    {Where::whole, "save ckpt", Phase::checkpoint},
    {Where::whole, "save model", Phase::checkpoint},
    {Where::whole, "saving checkpoint", Phase::checkpoint},
    {Where::whole, "write checkpoint", Phase::checkpoint},
    {Where::whole, "compile", Phase::compilation},
    {Where::whole, "eval", Phase::evaluation},
    {Where::whole, "eval epoch", Phase::evaluation},
    {Where::whole, "eval loop", Phase::evaluation},
    {Where::whole, "eval step", Phase::evaluation},
    {Where::whole, "evaluate", Phase::evaluation},
    {Where::whole, "evaluate and print results", Phase::evaluation},
    {Where::whole, "evaluate model", Phase::evaluation},
    {Where::whole, "val", Phase::evaluation},
    {Where::whole, "val epoch", Phase::evaluation},
    {Where::whole, "val loop", Phase::evaluation},
    {Where::whole, "val step", Phase::evaluation},
    {Where::whole, "validate", Phase::evaluation},
    {Where::whole, "validation", Phase::evaluation},
    {Where::whole, "validation epoch", Phase::evaluation},
    {Where::whole, "validation loop", Phase::evaluation},
    {Where::whole, "validation step", Phase::evaluation},
    {Where::whole, "startup", Phase::start_up},
    {Where::whole, "setup", Phase::start_up},
    {Where::whole, "initialization", Phase::start_up},
    {Where::whole, "load model", Phase::start_up},
    {Where::whole, "model setup", Phase::start_up},
    {Where::whole, "model and optimizer setup", Phase::start_up},  // Megatron-LM's timers
    {Where::whole, "train valid test data iterators setup", Phase::start_up},
};

// As the table is written: lower case; what stands between words is a space.
char as_in_table(char letter) {
  if (letter >= 'A' && letter <= 'Z') return static_cast<char>(letter - 'A' + 'a');
  return letter == '_' || letter == '-' || letter == '/' ? ' ' : letter;
}

bool same(std::string_view name, std::string_view text) {
  return std::equal(name.begin(), name.end(), text.begin(), text.end(),
                    [](char one, char other) { return as_in_table(one) == as_in_table(other); });
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

#include "analyzer/model/phase_names.h"

#include <algorithm>

namespace lockstep::analyzer {
namespace {

enum class Where : std::uint8_t { whole, first, last };  // the name, or how it begins or ends

struct Entry {
  std::string_view text;
  Where where;
  Phase phase;
};

// The first that fits counts. Activation checkpointing ("CheckpointFunction", "checkpointing") saves nothing
// to disk: no word alone decides, except where it is the whole name.
constexpr Entry kNames[] = {
    {" (background)", Where::last, Phase::checkpoint_beside},
    // What Lockstep's hook names (tracer/inject/sources/pytorch/hook).
    {"compilation", Where::first, Phase::compilation},
    {"checkpoint: ", Where::first, Phase::checkpoint},
    {"evaluation", Where::first, Phase::evaluation},
    {"start-up: ", Where::first, Phase::start_up},
    // PyTorch: Dynamo's and Inductor's own ranges, and what their compilers are called.
    {"(dynamo_timed)", Where::last, Phase::compilation},
    {"torch.compile", Where::first, Phase::compilation},
    {"torch._dynamo.convert_frame", Where::first, Phase::compilation},
    {"torch._inductor.compile", Where::first, Phase::compilation},
    {"triton.compile", Where::first, Phase::compilation},
    {"torch.save", Where::first, Phase::checkpoint},
    {"torch.load", Where::first, Phase::checkpoint},
    {"torch.distributed.checkpoint", Where::first, Phase::checkpoint},
    {"init_process_group", Where::first, Phase::start_up},
    // Lightning's profilers: "[pl][profile][_EvaluationLoop].advance", "[pl][profile]save_checkpoint".
    {"[pl][profile][_evaluationloop]", Where::first, Phase::evaluation},
    {"[pl][profile]save_checkpoint", Where::first, Phase::checkpoint},
    {"[pl][profile]run_evaluation", Where::first, Phase::evaluation},
    {".validation_step", Where::last, Phase::evaluation},
    {".test_step", Where::last, Phase::evaluation},
    {".save_checkpoint", Where::last, Phase::checkpoint},
    // Names that people give their ranges, in words: "save_ckpt", "save-ckpt" and "Save ckpt" are one name.
    {"checkpoint", Where::whole, Phase::checkpoint},
    {"checkpoint save", Where::whole, Phase::checkpoint},
    {"checkpoint load", Where::whole, Phase::checkpoint},
    {"load checkpoint", Where::whole, Phase::checkpoint},
    {"load ckpt", Where::whole, Phase::checkpoint},
    {"load state dict", Where::whole, Phase::checkpoint},
    {"save checkpoint", Where::first, Phase::checkpoint},  // and Megatron-LM's timers
    {"save ckpt", Where::whole, Phase::checkpoint},
    {"save model", Where::whole, Phase::checkpoint},
    {"saving checkpoint", Where::whole, Phase::checkpoint},
    {"write checkpoint", Where::whole, Phase::checkpoint},
    {"compile", Where::whole, Phase::compilation},
    {"eval", Where::whole, Phase::evaluation},
    {"eval epoch", Where::whole, Phase::evaluation},
    {"eval loop", Where::whole, Phase::evaluation},
    {"eval step", Where::whole, Phase::evaluation},
    {"evaluate", Where::whole, Phase::evaluation},
    {"evaluate and print results", Where::whole, Phase::evaluation},
    {"evaluate model", Where::whole, Phase::evaluation},
    {"val", Where::whole, Phase::evaluation},
    {"val epoch", Where::whole, Phase::evaluation},
    {"val loop", Where::whole, Phase::evaluation},
    {"val step", Where::whole, Phase::evaluation},
    {"validate", Where::whole, Phase::evaluation},
    {"validation", Where::whole, Phase::evaluation},
    {"validation epoch", Where::whole, Phase::evaluation},
    {"validation loop", Where::whole, Phase::evaluation},
    {"validation step", Where::whole, Phase::evaluation},
    {"startup", Where::whole, Phase::start_up},
    {"setup", Where::whole, Phase::start_up},
    {"initialization", Where::whole, Phase::start_up},
    {"load model", Where::whole, Phase::start_up},
    {"model setup", Where::whole, Phase::start_up},
    {"model and optimizer setup", Where::whole, Phase::start_up},  // Megatron-LM's timers
    {"train valid test data iterators setup", Where::whole, Phase::start_up},
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

#include "reference_trainer/command_line/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "reference_trainer/modes/modes.h"
#include "reference_trainer/options/flag_kinds.h"
#include "reference_trainer/options/flags.h"
#include "reference_trainer/options/json_config.h"

namespace lockstep::trainer {
namespace {

constexpr const char* kDescription =
    "lockstep train: trains a decoder-only transformer on the bytes of a text, on one or several ranks.\n"
    "Data parallel, sharded, pipelined or single, on libtorch over Gloo or NCCL, annotated with NVTX\n"
    "(docs/instrumentation.md); docs/training.md tells what each mode does.";

constexpr const char* kFooter =
    "Examples:\n"
    "  lockstep train                                   one process, the project's documentation as text\n"
    "  lockstep train --ranks 4 --steps 50              four processes on this machine\n"
    "  lockstep train --ranks 4 --bucket-cap-mb 25      one large bucket: little communication is hidden\n"
    "  lockstep train --ranks 4 --mode fsdp --backward-prefetch none\n"
    "                                                   parameters sharded, each gathered when it is needed\n"
    "  lockstep train --ranks 4 --slow-rank 2           rank 2 computes twice: the others wait for it\n"
    "  lockstep train --ranks 4 --deepspeed zero3.json  ZeRO, as DeepSpeed's configuration says\n"
    "  lockstep train --ranks 4 --mode pipeline --layers 8 --microbatches 16\n"
    "                                                   four stages of two layers, 1F1B\n"
    "  lockstep train --ranks 2 --device cuda           on this machine's GPUs (scripts/setup --cuda)\n"
    "  lockstep record -o run -- lockstep train --ranks 4\n"
    "  torchrun --no-python --nproc-per-node 4 lockstep train --steps 50\n"
    "\n"
    "Exit codes: 0 trained; 1 training failed; 2 a wrong flag or value; where a rank dies, its exit code, or "
    "128 plus the\n"
    "number of the signal that killed it.";

CommandLine usage_error(const std::string& message) {
  return {.options = {},
          .exits = true,
          .exit_code = 2,
          .output = "lockstep train: " + message + "\nTry 'lockstep train --help'.\n"};
}

void add_mode_flag(CLI::App& app, Options& options) {
  std::map<std::string, const Mode*> modes;
  for (const Mode* const mode : all_modes()) modes.emplace(mode->name, mode);
  add_choice(app, "--mode", "How several ranks share the work", modes, options.mode->name, kJobGroup,
             options.mode);
}

// Each once, though several modes may have the same.
std::vector<const ModeFlags*> flags_of_modes() {
  std::vector<const ModeFlags*> all;
  for (const Mode* const mode : all_modes()) {
    if (mode->flags != nullptr && std::find(all.begin(), all.end(), mode->flags) == all.end())
      all.push_back(mode->flags);
  }
  return all;
}

// The first one whose flags have this heading; null: they are everybody's.
const Mode* mode_with_flags(const std::string& heading) {
  for (const Mode* const mode : all_modes())
    if (mode->flags != nullptr && mode->flags->heading == heading) return mode;
  return nullptr;
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine line;
  Options& options = line.options;
  CLI::App app(kDescription, "lockstep train");
  app.footer(describe_teaching_flags() + kFooter);
  app.get_formatter()->column_width(34);
  app.set_config("--config", "",
                 "JSON file with flags by name: {\"mode\": \"fsdp\", \"ranks\": 4}; flags win over it")
      ->type_name("FILE")
      ->group("Job");
  app.config_formatter(std::make_shared<JsonConfig>(app));
  app.allow_config_extras(CLI::config_extras_mode::error);
  options.mode = all_modes().front();
  add_job_flags(app, options);
  add_mode_flag(app, options);
  add_device_flags(app, options);
  add_model_flags(app, options.model);
  add_training_flags(app, options.training);
  for (const ModeFlags* const flags : flags_of_modes()) flags->add(app, options);
  add_teaching_flags(app, options);
  // Who adds a flag to a command that has it already wants the new value.
  for (CLI::Option* const option : app.get_options()) {
    if (option->get_name() != "--fault") option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    line.exits = true;
    line.output = app.help();
    return line;
  } catch (const CLI::ConfigError& error) {
    const std::vector<std::string>& files = app.get_config_ptr()->results();
    const std::string file = files.empty() ? "" : " " + files.back();
    return usage_error(fmt::format("--config{}: {}", file, error.what()));
  } catch (const CLI::ParseError& error) {
    return usage_error(error.what());
  }
  if (options.slow.rank >= 0)
    options.faults.push_back({.kind = FaultKind::slow_rank,
                              .place = options.slow.rank,
                              .amount = static_cast<double>(options.slow.factor)});
  for (const ModeFlags* const flags : flags_of_modes()) {
    if (flags->apply == nullptr) continue;
    if (const Status status = flags->apply(app, options); !status.ok())
      return usage_error(status.error().message);
  }
  for (const CLI::Option* option : app.get_options()) {
    const Mode* const owner = mode_with_flags(option->get_group());
    if (option->count() == 0 || owner == nullptr || owner->flags == options.mode->flags) continue;
    return usage_error(fmt::format("{} belongs to --mode {}, and this is --mode {}", option->get_name(),
                                   owner->name, options.mode->name));
  }
  return line;
}

Status settle_options(Options& options, int world_size) {
  return options.mode->settle == nullptr ? Status() : options.mode->settle(options, world_size);
}

}  // namespace lockstep::trainer

// The flags of `lockstep train`, one function for each group of --help. For command_line/.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reference_trainer/options/options.h"

namespace lockstep::trainer {

inline constexpr std::int64_t kMillion = 1'000'000;

// Groups whose flags mean something in some modes alone: giving one in another mode is refused.
inline constexpr const char* kDdpGroup = "Data parallel (--mode ddp)";
inline constexpr const char* kFsdpGroup = "Fully sharded (--mode fsdp)";
inline constexpr const char* kZeroGroup = "ZeRO (--mode zero1, zero2, zero3)";
inline constexpr const char* kPipelineGroup = "Pipeline (--mode pipeline)";
std::vector<Mode> modes_of_group(const std::string& group);  // empty: all

void add_job_flags(CLI::App& app, Options& options);
void add_device_flags(CLI::App& app, Options& options);
void add_model_flags(CLI::App& app, ModelOptions& model);
void add_training_flags(CLI::App& app, TrainingOptions& training);
void add_ddp_flags(CLI::App& app, DdpOptions& ddp);
void add_fsdp_flags(CLI::App& app, FsdpOptions& fsdp);
void add_zero_flags(CLI::App& app, Options& options);
void add_pipeline_flags(CLI::App& app, PipelineOptions& pipeline);
void add_teaching_flags(CLI::App& app, Options& options);
// The kinds of --fault, for the end of --help.
std::string describe_teaching_flags();

// After parsing: what --deepspeed's file says, or, without one, DeepSpeed's defaults for the mode.
Status apply_deepspeed(const CLI::App& app, Options& options);

// CLI11's own checks speak of ranges up to 1.8e308; these say what a value must be and what it was.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);
CLI::Validator number(bool zero_allowed, double most);

// A flag whose value is one of a few names.
template <class Value>
CLI::Option* add_choice(CLI::App& app, const std::string& flag, const std::string& help,
                        const std::map<std::string, Value>& values, const std::string& usual,
                        const std::string& group, Value& value) {
  std::vector<std::string> names;
  for (const auto& item : values) names.push_back(item.first);
  return app
      .add_option_function<std::string>(
          flag, [&value, values](const std::string& name) { value = values.at(name); },
          fmt::format("{}: {}", help, fmt::join(names, ", ")))
      ->check(CLI::IsMember(names).description(""))
      ->type_name("NAME")
      ->default_str(usual)
      ->group(group);
}

}  // namespace lockstep::trainer

// The flags of `lockstep train` that every mode of training has, one function for each group of --help. For
// command_line/.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "reference_trainer/options/options.h"

namespace lockstep::trainer {

inline constexpr const char* kJobGroup = "Job";

void add_job_flags(CLI::App& app, Options& options);
void add_device_flags(CLI::App& app, Options& options);
void add_model_flags(CLI::App& app, ModelOptions& model);
void add_training_flags(CLI::App& app, TrainingOptions& training);
void add_teaching_flags(CLI::App& app, Options& options);
// The kinds of --fault, for the end of --help.
std::string describe_teaching_flags();

}  // namespace lockstep::trainer

// What `lockstep check` writes: its verdict for people and for programs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/gate/run_record.h"
#include "analyzer/gate/verdict.h"
#include "analyzer/gate/verdict_outputs.h"
#include "base/result.h"
#include "cli/common/parse.h"

namespace lockstep::cli {

struct CheckOutputs {
  std::string json, markdown, junit;  // files; "": not asked for
  std::string history;
  std::vector<std::string> exports;  // "otava=FILE"
  std::string commit;                // "": as the environment of a pipeline says
  std::string name = "lockstep";     // of the job
  std::string color = "auto";
  bool quiet = false;
};

void describe_outputs(CLI::App& app, CheckOutputs& outputs);

// Whether they can be understood: asked before runs are read, which takes long.
Status check_outputs(const CheckOutputs& outputs);

// All of them. Errors name the flag and the file.
Status write_outputs(const CheckOutputs& outputs, const analyzer::Verdict& verdict,
                     std::span<const analyzer::RunRecord> head, const analyzer::VerdictContext& context);

}  // namespace lockstep::cli

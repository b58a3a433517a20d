// A verdict for people and for machines.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyzer/gate/verdict.h"
#include "analyzer/report/page.h"

namespace lockstep::analyzer {

// What stands beside the verdict in every output.
struct VerdictContext {
  std::string policy;       // its file, or "the default policy"
  double false_alarms = 0;  // of the policy
  std::string baseline;     // its file, or runs; "" where there is none
  std::size_t head_runs = 0, base_runs = 0;
  // The command that says more of what became of the step: ranks, collectives, layers. "" where the runs of
  // the baseline are not at hand.
  std::string diff_command = {};
  bool undecided_fails = true;                // as --inconclusive says
  std::string time = "1970-01-01T00:00:00Z";  // of the check, in UTC
  std::string host = "localhost";             // on which it ran
};

// For a terminal or a job's log; ends in a new line.
std::string to_text(const Verdict& verdict, const VerdictContext& context, const PageOptions& page);
// `lockstep.check/1`, exact values in the figures' units.
nlohmann::ordered_json to_json(const Verdict& verdict, const VerdictContext& context);
// A table for GitHub's job summary and GitLab's comments.
std::string to_markdown(const Verdict& verdict, const VerdictContext& context);
// A test case a figure, as Jenkins, GitLab and the schema of Ant's tasks take them: worse and missing fail,
// what has no baseline yet is skipped, undecided is skipped or, with `undecided_fails`, fails.
std::string to_junit(const Verdict& verdict, const VerdictContext& context);

}  // namespace lockstep::analyzer

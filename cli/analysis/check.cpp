// `lockstep check`: whether runs hold what a policy asks of them; the gate for CI.
#include <fmt/format.h>

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "analyzer/figures/figures.h"
#include "analyzer/gate/baseline.h"
#include "analyzer/gate/verdict_outputs.h"
#include "base/counts.h"
#include "base/shell_words.h"
#include "base/standard_streams.h"
#include "base/words.h"
#include "cli/analysis/check_outputs.h"
#include "cli/analysis/different_paths.h"
#include "cli/analysis/reading.h"
#include "cli/analysis/run_records.h"
#include "cli/analysis/verbs.h"
#include "cli/common/exit_codes.h"
#include "cli/common/output.h"
#include "cli/common/parse.h"
#include "cli/common/terminal.h"
#include "tracer/protocol/environment.h"

namespace lockstep::cli {
namespace {

// As CI systems tell them apart.
constexpr int kHolds = 0, kWorse = 1, kBadInput = 2, kUndecided = 3, kNoBaseline = 4;

constexpr const char* kFooter =
    "Examples:\n"
    "  lockstep check run1 run2 run3 --baseline main.json            against what `lockstep baseline save` wrote\n"
    "  lockstep check new1 new2 new3 --baseline old1 old2 old3       against other runs\n"
    "  lockstep check run --policy gate.toml                         against the bounds of a policy\n"
    "  lockstep check --init > gate.toml                             a commented policy to begin with\n"
    "  lockstep check run1 run2 --baseline main.json --junit check.xml --markdown \"$GITHUB_STEP_SUMMARY\"\n"
    "\n"
    "Exit code: 0 all figures are within their limits; 1 one is worse than allowed, or missing; 2 wrong usage, bad\n"
    "input, or something else that kept it from judging (no memory, an output that can't be written); 3 undecided:\n"
    "more runs would tell (0 with --inconclusive pass); 4 there is no baseline yet, and nothing was worse than a\n"
    "bound: nothing was compared, whether --save-if-missing wrote one or not.\n";

struct Arguments {
  std::vector<std::string> runs, baseline;
  std::string policy, inconclusive = "fail";
  CheckOutputs outputs;
  ReadingArguments reading;
  bool init = false, figures = false, other_setting = false, save_if_missing = false;
};

void describe(CLI::App& app, Arguments& arguments) {
  app.add_option("RUNS", arguments.runs, "Runs to judge, each a run folder; three or more tell most");
  app.add_option("--baseline", arguments.baseline,
                 "What they are held to: a file of `lockstep baseline save`, or runs")
      ->option_text("FILE|RUN…");
  app.add_option("--policy", arguments.policy,
                 "Which figures, and by how much [step time and what it is lost to, 3 %]")
      ->option_text("FILE");
  app.add_option("--inconclusive", arguments.inconclusive,
                 "What an undecided figure counts as: fail (exit code 3) or pass (0, with a warning) [fail]")
      ->check(CLI::IsMember({"fail", "pass"}))
      ->option_text("WHAT");
  app.add_flag("--save-if-missing", arguments.save_if_missing,
               "Where the file of --baseline is not there yet, write it of these runs, unless they fail; the "
               "exit code is 4 all the same");
  app.add_flag("--other-setting", arguments.other_setting,
               "Compare although world size, hosts or devices differ from the baseline's");
  app.add_flag("--init", arguments.init, "Print a commented policy, and do nothing else");
  app.add_flag("--figures", arguments.figures,
               "List the figures that a policy can name, and do nothing else");
  describe_reading(app, arguments.reading);
  describe_outputs(app, arguments.outputs);
  app.footer(kFooter);
}

int bad_input(const Error& error) {
  fail("check", error);
  return kBadInput;
}

// Help, or a list, that could not be written is no figure that is worse.
int code_of_text(int exit_code) {
  return exit_code == kSuccess ? kHolds : kBadInput;
}

std::string list_of_figures() {
  std::string text;
  for (const analyzer::FigureKind* figure : analyzer::figure_kinds())
    text += fmt::format("{:<28} {:<6} {:<7} {}\n", figure->name, to_string(figure->unit),
                        figure->direction == analyzer::Direction::lower_is_better ? "lower" : "higher",
                        figure->meaning);
  return "figure                       unit   better  what it is\n" + text;
}

// A pipeline's first run, whose verdict is given.
Status without_baseline(const Arguments& arguments, const std::vector<analyzer::RunRecord>& head,
                        const analyzer::Verdict& verdict) {
  const std::string& path = arguments.baseline.front();
  if (!arguments.save_if_missing) {
    if (verdict.outcome == analyzer::Outcome::not_compared)
      fail("check",
           Error{fmt::format(
               "--baseline {}: there is no such file or run; write one with `lockstep baseline save`, or "
               "give --save-if-missing",
               path)});
    return {};
  }
  if (verdict.outcome == analyzer::Outcome::fail) {
    tell(fmt::format("lockstep check: there is no baseline, and {} was not written of runs that fail\n",
                     path));
    return {};
  }
  const analyzer::Baseline baseline{.lockstep_version = LOCKSTEP_VERSION, .saved = today(), .runs = head};
  if (Status status =
          write_file("--baseline", path, [&](std::ostream& out) { out << analyzer::to_text(baseline); });
      !status.ok())
    return status;
  tell(fmt::format("lockstep check: there was no baseline; wrote {} of {}. Nothing was compared with it.\n",
                   path, format_plural(head.size(), "run")));
  return {};
}

// Of runs that are at hand alone: a baseline's file keeps figures and no traces.
std::string diff_command(const Arguments& arguments) {
  std::vector<std::string> command{"lockstep", "diff"};
  for (const std::string& path : arguments.baseline) {
    if (analyzer::is_baseline(path)) return "";
    command.push_back(path);
  }
  if (arguments.baseline.empty()) return "";
  command.emplace_back("--to");
  command.insert(command.end(), arguments.runs.begin(), arguments.runs.end());
  return for_shell(command);
}

int exit_code_of(const Arguments& arguments, const analyzer::Verdict& verdict) {
  switch (verdict.outcome) {
    case analyzer::Outcome::pass:
      return kHolds;
    case analyzer::Outcome::fail:
      return kWorse;
    case analyzer::Outcome::not_compared:
      return kNoBaseline;
    case analyzer::Outcome::undecided:
      break;
  }
  if (arguments.inconclusive != "pass") return kUndecided;
  tell("lockstep check: warning: undecided, and passed because of --inconclusive pass\n");
  return kHolds;
}

int check(const Arguments& arguments) {
  if (arguments.runs.empty())
    return bad_input(Error{"no run to judge was given (see lockstep check --help)"});
  const Result<analyzer::Policy> policy = read_policy(arguments.policy);
  if (!policy.ok()) return bad_input(policy.error());
  if (arguments.baseline.empty() && analyzer::needs_baseline(policy.value()))
    return bad_input(Error{fmt::format(
        "{} holds figures to a baseline: give --baseline, or bounds (at_most, at_least) in a policy",
        policy.value().source)});
  if (const Status status = check_outputs(arguments.outputs); !status.ok()) return bad_input(status.error());
  if (arguments.save_if_missing && arguments.baseline.size() != 1)
    return bad_input(Error{"--save-if-missing: give --baseline one file"});
  if (const Status status = check_different_paths(arguments.runs, arguments.baseline); !status.ok())
    return bad_input(status.error());
  const Result<std::vector<analyzer::RunRecord>> head =
      read_runs(arguments.runs, arguments.reading, !arguments.outputs.quiet);
  if (!head.ok()) return bad_input(head.error());
  std::error_code error;
  const bool is_missing =
      arguments.baseline.size() == 1 && !std::filesystem::exists(arguments.baseline.front(), error);
  const std::vector<std::string> there = is_missing ? std::vector<std::string>() : arguments.baseline;
  const Result<std::vector<analyzer::RunRecord>> base =
      read_baselines(there, arguments.reading, !arguments.outputs.quiet);
  if (!base.ok()) return bad_input(base.error());
  const analyzer::VerdictOptions options{
      .today = today(), .other_setting = arguments.other_setting, .no_baseline_yet = is_missing};
  Result<analyzer::Verdict> verdict = analyzer::judge(policy.value(), head.value(), base.value(), options);
  if (!verdict.ok()) return bad_input(verdict.error());
  const analyzer::VerdictContext context{.policy = policy.value().source,
                                         .false_alarms = policy.value().false_alarms,
                                         .baseline = join_words(arguments.baseline, ", "),
                                         .head_runs = head.value().size(),
                                         .base_runs = base.value().size(),
                                         .diff_command = is_missing ? "" : diff_command(arguments),
                                         .undecided_fails = arguments.inconclusive == "fail",
                                         .time = now_in_utc(),
                                         .host = tracer::host_name()};
  if (verdict.value().outcome == analyzer::Outcome::undecided && arguments.inconclusive == "pass")
    verdict.value().warnings.emplace_back("undecided, and passed because of --inconclusive pass");
  if (is_missing && !analyzer::needs_baseline(policy.value()))
    verdict.value().warnings.push_back(
        fmt::format("--baseline {}: there is no such file or run, and no figure of {} is held to one",
                    arguments.baseline.front(), policy.value().source));
  if (const Status status = write_outputs(arguments.outputs, verdict.value(), head.value(), context);
      !status.ok())
    return bad_input(status.error());
  if (is_missing)
    if (const Status status = without_baseline(arguments, head.value(), verdict.value()); !status.ok())
      return bad_input(status.error());
  return exit_code_of(arguments, verdict.value());
}

}  // namespace

int run_check(int argc, char** argv) {
  CLI::App app("Holds figures of runs to a baseline, other runs or bounds, and says with which confidence.",
               "lockstep check");
  Arguments arguments;
  describe(app, arguments);
  if (const auto exit_code = parse(app, argc, argv)) return code_of_text(*exit_code);
  if (arguments.init) return code_of_text(print_to_stdout("lockstep check", analyzer::commented_policy()));
  if (arguments.figures) return code_of_text(print_to_stdout("lockstep check", list_of_figures()));
  return check(arguments);
}

}  // namespace lockstep::cli

// `lockstep baseline`: what runs are held to, kept as a file.
#include "analyzer/gate/baseline.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "analyzer/comparison/sample.h"
#include "analyzer/figures/figures.h"
#include "analyzer/gate/verdict.h"
#include "analyzer/gate/verdict_words.h"
#include "base/counts.h"
#include "base/output_file.h"
#include "base/printable.h"
#include "base/words.h"
#include "cli/analysis/different_paths.h"
#include "cli/analysis/reading.h"
#include "cli/analysis/run_records.h"
#include "cli/analysis/verbs.h"
#include "cli/common/exit_codes.h"
#include "cli/common/output.h"
#include "cli/common/parse.h"

namespace lockstep::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  lockstep baseline save run1 run2 run3 -o main.json    keep the figures of three runs\n"
    "  lockstep baseline show main.json                      what is in it\n"
    "  lockstep baseline verify main.json                    whether it varies too much to gate anything\n"
    "  lockstep check new1 new2 new3 --baseline main.json    hold others to it\n"
    "\n"
    "Exit code: 0 done, or quiet enough; 1 the input could not be read or the output not written; 2 wrong usage;\n"
    "3 not quiet enough for its policy.\n";

constexpr int kTooNoisy = 3;

struct Arguments {
  std::vector<std::string> runs;
  std::string output, file, policy;
  ReadingArguments reading;
  bool force = false, quiet = false;
};

int save(const Arguments& arguments) {
  const Overwrite overwrite = arguments.force ? Overwrite::allow : Overwrite::refuse;
  Result<OutputFile> file = OutputFile::create(arguments.output, overwrite);
  if (!file.ok())
    return fail("baseline", Error{fmt::format("-o {}: {}", arguments.output, file.error().message)});
  if (const Status different = check_different_paths(arguments.runs); !different.ok())
    return fail("baseline", different.error());
  const Result<std::vector<analyzer::RunRecord>> runs =
      read_runs(arguments.runs, arguments.reading, !arguments.quiet);
  if (!runs.ok()) return fail("baseline", runs.error());
  for (const analyzer::RunRecord& run : runs.value())
    if (!run.unfit.empty())
      return fail("baseline", Error{fmt::format("{} can't be a baseline: {}", run.path, run.unfit)});
  if (const Status different = analyzer::check_different(runs.value(), {}); !different.ok())
    return fail("baseline", different.error());
  file.value().stream() << analyzer::to_text(
      {.lockstep_version = LOCKSTEP_VERSION, .saved = today(), .runs = runs.value()});
  if (const Status status = file.value().commit(); !status.ok()) return fail("baseline", status.error());
  if (arguments.quiet) return kSuccess;
  return print_to_stdout(
      "lockstep baseline",
      fmt::format(
          "wrote {}: {}{}\n", printable(arguments.output), format_plural(runs.value().size(), "run"),
          runs.value().size() < 2 ? "; of one alone nobody knows by how much runs differ anyway" : ""));
}

int show(const Arguments& arguments) {
  const Result<analyzer::Baseline> read = analyzer::read_baseline(arguments.file);
  if (!read.ok()) return fail("baseline", read.error());
  const analyzer::Baseline& baseline = read.value();
  std::string text =
      fmt::format("{}: saved {} by lockstep {}, {}\n", printable(arguments.file), printable(baseline.saved),
                  printable(baseline.lockstep_version), format_plural(baseline.runs.size(), "run"));
  for (const analyzer::RunRecord& run : baseline.runs)
    text += fmt::format("  {}: {}, {}\n", printable(run.path), format_plural(run.setting.world_size, "rank"),
                        format_plural(run.steps, "steady step"));
  for (const analyzer::RunFigure& figure : baseline.runs.front().figures) {
    const analyzer::FigureKind* const kind = analyzer::find_figure_kind(figure.name);
    std::vector<double> values;
    for (const analyzer::RunRecord& run : baseline.runs)
      if (const auto value = run.of(figure.name, figure.scope)) values.push_back(*value);
    const analyzer::Sample sample = analyzer::sample_of(values);
    const auto written = [&](double value) {
      return kind == nullptr ? fmt::format("{:g}", value) : analyzer::format_figure(value, kind->unit);
    };
    text += fmt::format("  {:<28} {:<26} {}{}\n", printable(figure.name), printable(figure.scope),
                        written(sample.mean),
                        sample.deviation && *sample.deviation > 0 ? " ± " + written(*sample.deviation) : "");
  }
  return print_to_stdout("lockstep baseline", text);
}

// The runs against themselves: nothing changed, so each figure should be settled. One that is not would leave
// every healthy change undecided.
int verify(const Arguments& arguments) {
  const Result<analyzer::Baseline> read = analyzer::read_baseline(arguments.file);
  if (!read.ok()) return fail("baseline", read.error());
  Result<analyzer::Policy> policy = read_policy(arguments.policy);
  if (!policy.ok()) {
    fail("baseline", policy.error());
    return kUsage;
  }
  policy.value().expected.clear();  // of a change, and not of the runs that it is held to
  const std::vector<analyzer::RunRecord>& base = read.value().runs;
  const Result<analyzer::Verdict> verdict =
      analyzer::judge(policy.value(), base, base, {.today = today(), .against_itself = true});
  if (!verdict.ok()) return fail("baseline", verdict.error());
  std::vector<std::string> noisy;
  std::string rows;
  for (const analyzer::FigureVerdict& figure : verdict.value().figures) {
    const bool settled = figure.zone == analyzer::Zone::within && !figure.missing;
    if (!settled) noisy.push_back(printable(figure.rule.name()));
    const std::string reason = analyzer::reason_text(figure);
    rows += fmt::format("  {:<28} {:<28} limit {:<32} {}\n", printable(figure.rule.name()),
                        analyzer::value_text(figure, figure.base), analyzer::limit_text(figure),
                        settled          ? "settled"
                        : reason.empty() ? analyzer::state_text(figure)
                                         : printable(reason));
  }
  const std::string compared = format_plural(base.size(), "run"), file = printable(arguments.file),
                    held_to = printable(policy.value().source);
  const int printed = print_to_stdout(
      "lockstep baseline",
      (noisy.empty()
           ? fmt::format(
                 "{} is quiet enough for {}: with {} a side, each figure of a change that changes nothing is settled\n",
                 file, held_to, compared)
           : fmt::format(
                 "{} is not quiet enough for {}: with {} a side, {} of a change that changes nothing would not be settled\n",
                 file, held_to, compared, join_words(noisy, ", ", " and "))) +
          rows);
  return printed != kSuccess ? printed : noisy.empty() ? kSuccess : kTooNoisy;
}

}  // namespace

int run_baseline(int argc, char** argv) {
  CLI::App app("Keeps the figures of runs in a file, for `lockstep check`.", "lockstep baseline");
  Arguments arguments;
  app.require_subcommand(1);
  app.footer(kFooter);
  CLI::App* const saving = app.add_subcommand("save", "Write the figures of runs into a file");
  saving->add_option("RUNS", arguments.runs, "Run folders, each a run of its own; three or more tell most")
      ->required();
  saving->add_option("-o,--output", arguments.output, "File to write")->required()->option_text("FILE");
  saving->add_flag("--force", arguments.force, "Overwrite what exists");
  saving->add_flag("-q,--quiet", arguments.quiet, "Say nothing about progress and what was written");
  describe_reading(*saving, arguments.reading);
  CLI::App* const showing =
      app.add_subcommand("show", "Print what is in a file: mean and deviation between runs");
  showing->add_option("FILE", arguments.file, "A file of `lockstep baseline save`")->required();
  CLI::App* const verifying = app.add_subcommand(
      "verify",
      "Hold a file to itself: whether its runs vary too much for a policy, before it gates anything");
  verifying->add_option("FILE", arguments.file, "A file of `lockstep baseline save`")->required();
  verifying->add_option("--policy", arguments.policy, "The policy [the default one of lockstep check]")
      ->option_text("FILE");
  if (const auto exit_code = parse(app, argc, argv)) return *exit_code;
  return saving->parsed() ? save(arguments) : verifying->parsed() ? verify(arguments) : show(arguments);
}

}  // namespace lockstep::cli

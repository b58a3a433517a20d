// `lockstep baseline`: what runs are held to, kept as a file.
#include "analyzer/gate/baseline.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/comparison/sample.h"
#include "analyzer/figures/figures.h"
#include "analyzer/gate/quietness.h"
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
    "3 not quiet enough for its policy, or too few runs to tell.\n";

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

// What can be said of all figures together; the worst of it.
std::string headline(const Arguments& arguments, const analyzer::Policy& policy, std::size_t runs,
                     const std::vector<std::string>& noisy, const std::vector<std::string>& unclear) {
  const std::string file = printable(arguments.file), held_to = printable(policy.source),
                    a_side = format_plural(runs, "run") + " a side";
  if (!noisy.empty())
    return fmt::format(
        "{} is not quiet enough for {}: with {}, {} of a change that changes nothing would often be left open\n",
        file, held_to, a_side, join_words(noisy, ", ", " and "));
  if (!unclear.empty())
    return fmt::format("{} may be quiet enough for {}; of {}, {} can't tell that\n", file, held_to,
                       join_words(unclear, ", ", " and "), format_plural(runs, "run"));
  return fmt::format(
      "{} is quiet enough for {}: with {}, each figure of a change that changes nothing is settled 9 times in 10, "
      "if runs vary by no more than these leave open at 95 %\n",
      file, held_to, a_side);
}

// The runs against themselves: nothing changed, so each figure should be settled. One that is not would leave
// every healthy change undecided.
int verify(const Arguments& arguments) {
  const Result<analyzer::Baseline> read = analyzer::read_baseline(arguments.file);
  if (!read.ok()) return fail("baseline", read.error());
  const Result<analyzer::Policy> policy = read_policy(arguments.policy);
  if (!policy.ok()) {
    fail("baseline", policy.error());
    return kUsage;
  }
  const auto figures = analyzer::quietness(policy.value(), read.value().runs);
  if (!figures.ok()) return fail("baseline", figures.error());
  std::vector<std::string> noisy, unclear;
  std::string rows;
  for (const analyzer::FigureQuietness& one : figures.value()) {
    const analyzer::FigureVerdict& figure = one.figure;
    const std::string name = printable(figure.rule.name());
    if (one.quiet == analyzer::Quiet::no) noisy.push_back(name);
    if (one.quiet == analyzer::Quiet::unclear) unclear.push_back(name);
    rows += fmt::format("  {:<28} {:<28} limit {:<32} {}\n", name, analyzer::value_text(figure, figure.head),
                        analyzer::limit_text(figure), printable(analyzer::quietness_text(one)));
  }
  const int printed =
      print_to_stdout("lockstep baseline",
                      headline(arguments, policy.value(), read.value().runs.size(), noisy, unclear) + rows);
  if (printed != kSuccess) return printed;
  return noisy.empty() && unclear.empty() ? kSuccess : kTooNoisy;
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

// `lockstep baseline`: what runs are held to, kept as a file.
#include "analyzer/gate/baseline.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "analyzer/comparison/sample.h"
#include "analyzer/export/output_file.h"
#include "analyzer/figures/figures.h"
#include "base/counts.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/reading.h"
#include "cli/run_records.h"
#include "cli/verb.h"

namespace lockstep::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  lockstep baseline save run1 run2 run3 -o main.json    keep the figures of three runs\n"
    "  lockstep baseline show main.json                      what is in it\n"
    "  lockstep check new1 new2 new3 --baseline main.json    hold others to it\n"
    "\n"
    "Exit code: 0 done; 1 the input could not be read or the output not written; 2 wrong usage.\n";

struct Arguments {
  std::vector<std::string> runs;
  std::string output, file;
  ReadingArguments reading;
  bool force = false, quiet = false;
};

int save(const Arguments& arguments) {
  const analyzer::Overwrite overwrite =
      arguments.force ? analyzer::Overwrite::allow : analyzer::Overwrite::refuse;
  Result<analyzer::OutputFile> file = analyzer::OutputFile::create(arguments.output, overwrite);
  if (!file.ok())
    return fail("baseline", Error{fmt::format("-o {}: {}", arguments.output, file.error().message)});
  const Result<std::vector<analyzer::RunRecord>> runs =
      read_runs(arguments.runs, arguments.reading, !arguments.quiet);
  if (!runs.ok()) return fail("baseline", runs.error());
  for (const analyzer::RunRecord& run : runs.value())
    if (!run.unfit.empty())
      return fail("baseline", Error{fmt::format("{} can't be a baseline: {}", run.path, run.unfit)});
  file.value().stream() << analyzer::to_text(
      {.lockstep_version = LOCKSTEP_VERSION, .saved = today(), .runs = runs.value()});
  if (const Status status = file.value().commit(); !status.ok()) return fail("baseline", status.error());
  if (arguments.quiet) return kSuccess;
  return print_to_stdout(
      "lockstep baseline",
      fmt::format(
          "wrote {}: {}{}\n", arguments.output, format_plural(runs.value().size(), "run"),
          runs.value().size() < 2 ? "; of one alone nobody knows by how much runs differ anyway" : ""));
}

int show(const Arguments& arguments) {
  const Result<analyzer::Baseline> read = analyzer::read_baseline(arguments.file);
  if (!read.ok()) return fail("baseline", read.error());
  const analyzer::Baseline& baseline = read.value();
  std::string text = fmt::format("{}: saved {} by lockstep {}, {}\n", arguments.file, baseline.saved,
                                 baseline.lockstep_version, format_plural(baseline.runs.size(), "run"));
  for (const analyzer::RunRecord& run : baseline.runs)
    text += fmt::format("  {}: {}, {}\n", run.path, format_plural(run.setting.world_size, "rank"),
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
    text += fmt::format("  {:<28} {:<26} {}{}\n", figure.name, figure.scope, written(sample.mean),
                        sample.deviation && *sample.deviation > 0 ? " ± " + written(*sample.deviation) : "");
  }
  return print_to_stdout("lockstep baseline", text);
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
  if (const auto exit_code = parse(app, argc, argv)) return *exit_code;
  return saving->parsed() ? save(arguments) : show(arguments);
}

}  // namespace lockstep::cli

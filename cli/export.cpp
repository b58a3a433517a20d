#include "analyzer/export/export.h"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "analyzer/export/output_file.h"
#include "base/standard_streams.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/reading.h"
#include "cli/terminal.h"
#include "cli/verb.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;
using analyzer::Overwrite;

constexpr const char* kExamples =
    "Formats:\n"
    "  perfetto  a timeline for ui.perfetto.dev (FILE.pftrace)\n"
    "  chrome    Trace Event Format for chrome://tracing, ui.perfetto.dev and scripts (FILE.json)\n"
    "  sqlite    tables for SQL; docs/export.md describes them (FILE.sqlite)\n"
    "  csv       the same tables, one file each, in a folder; with -o - the table of activities on stdout\n"
    "\n"
    "Examples:\n"
    "  lockstep export run --format perfetto\n"
    "  lockstep export run --format sqlite -o run.sqlite && sqlite3 run.sqlite 'SELECT * FROM rank_causes'\n"
    "  lockstep export rank*.json.gz --format csv -o tables\n"
    "\n"
    "Exit code: 0 written; 1 the input could not be read or the output not written;\n"
    "2 wrong usage, or an output that exists already and no --force.\n";

struct Arguments {
  std::vector<std::string> paths;
  std::string format, output;
  ReadingArguments reading;
  bool force = false, quiet = false, all_steps = false, as_recorded = false;
};

void describe(CLI::App& app, Arguments& arguments) {
  app.add_option("PATHS", arguments.paths, "A run folder, trace files, or a folder of trace files")
      ->required();
  app.add_option("-f,--format", arguments.format, "perfetto, chrome, sqlite or csv")
      ->required()
      ->check(CLI::IsMember({"perfetto", "chrome", "sqlite", "csv"}))
      ->option_text("FORMAT");
  app.add_option("-o,--output", arguments.output,
                 "File (csv: folder) to write; - is stdout [the run's name with the format's ending, here]")
      ->option_text("FILE");
  describe_reading(app, arguments.reading);
  app.add_flag("--all-steps", arguments.all_steps,
               "Findings and summaries over all that was recorded, not over steady training alone");
  app.add_flag("--as-recorded", arguments.as_recorded,
               "csv: names that begin with = + - @ as they are; else an apostrophe before them keeps "
               "spreadsheets from "
               "calculating them");
  app.add_flag("--force", arguments.force, "Overwrite what exists");
  app.add_flag("-q,--quiet", arguments.quiet, "Say nothing about progress and what was written");
  app.footer(kExamples);
}

// "runs/today/" and sqlite: "today.sqlite".
std::string default_output(const std::string& path, const std::string& format) {
  fs::path name = fs::path(path).lexically_normal();
  if (!name.has_filename()) name = name.parent_path();
  std::string stem = name.filename().string();
  for (const char* ending : {".gz", ".json", ".lst"}) {
    if (stem.ends_with(ending)) stem.resize(stem.size() - std::string_view(ending).size());
  }
  if (stem.empty() || stem == "." || stem == "..") stem = "run";
  if (format == "perfetto") return stem + ".pftrace";
  if (format == "chrome") return stem + ".chrome.json";  // so that rank0.json does not become its own export
  if (format == "sqlite") return stem + ".sqlite";
  return stem + "-csv";
}

analyzer::Formulas formulas_of(const Arguments& arguments) {
  return arguments.as_recorded ? analyzer::Formulas::as_recorded : analyzer::Formulas::as_text;
}

void write_stream(const Arguments& arguments, const LoadedJob& loaded, std::ostream& out) {
  const std::string& format = arguments.format;
  if (format == "perfetto") analyzer::write_perfetto(loaded.job, loaded.analysis, out);
  if (format == "chrome") analyzer::write_chrome(loaded.job, loaded.analysis, out);
  if (format == "csv")
    analyzer::write_activities_csv(loaded.job, loaded.analysis, out, formulas_of(arguments));
}

Status write_to(const std::string& output, const Arguments& arguments, const LoadedJob& loaded) {
  const Overwrite overwrite = arguments.force ? Overwrite::allow : Overwrite::refuse;
  if (arguments.format == "csv")
    return analyzer::write_csv(loaded.job, loaded.analysis, output, overwrite, formulas_of(arguments));
  if (arguments.format == "sqlite") {
    Result<analyzer::OutputPath> path = analyzer::OutputPath::create(output, overwrite);
    if (!path.ok()) return path.error();
    const Status written = analyzer::write_sqlite(loaded.job, loaded.analysis, path.value().path());
    return written.ok() ? path.value().commit() : written;
  }
  Result<analyzer::OutputFile> file = analyzer::OutputFile::create(output, overwrite);
  if (!file.ok()) return file.error();
  write_stream(arguments, loaded, file.value().stream());
  return file.value().commit();
}

// Looks before an hour of work is done for nothing.
Status check_target(const std::string& output, const Arguments& arguments) {
  std::filesystem::path file = output;
  if (arguments.format == "csv") {
    file /= "metadata.csv";  // the first of the folder's files
    if (!std::filesystem::exists(file)) return {};
  }
  const Result<analyzer::OutputPath> path =
      analyzer::OutputPath::create(file, arguments.force ? Overwrite::allow : Overwrite::refuse);
  return path.ok() ? Status() : Status(path.error());
}

}  // namespace

int run_export(int argc, char** argv) {
  CLI::App app("Converts a run, with what the analysis found in it, for other tools.", "lockstep export");
  Arguments arguments;
  describe(app, arguments);
  if (const auto exit_code = parse(app, argc, argv)) return *exit_code;
  const bool to_stdout = arguments.output == "-";
  if (to_stdout && arguments.format == "sqlite") {
    fail("export", Error{"-o -: a SQLite database can't go to stdout; give a file name"});
    return kUsage;
  }
  const std::string output =
      arguments.output.empty() ? default_output(arguments.paths.front(), arguments.format) : arguments.output;
  LoadOptions load;
  load.keep_host_ranges = true;
  load.progress = !arguments.quiet;
  if (const Status status = take_reading(arguments.reading, load.reading); !status.ok()) {
    fail("export", status.error());
    return kUsage;
  }
  if (!to_stdout) {
    if (const Status free = check_target(output, arguments); !free.ok()) {
      fail("export", free.error());
      return kUsage;
    }
  }

  load.analysis.steady = !arguments.all_steps;
  const Result<LoadedJob> loaded = load_job(arguments.paths, load);
  if (!loaded.ok()) return fail("export", loaded.error());
  for (const analyzer::Warning& warning : loaded.value().analysis.report.warnings) {
    if (!arguments.quiet) tell(fmt::format("lockstep export: warning: {}\n", warning.message));
  }
  ProgressLine progress(!arguments.quiet);
  progress.show("writing");
  const Status status =
      to_stdout ? write_to_stdout([&](std::ostream& out) { write_stream(arguments, loaded.value(), out); })
                : write_to(output, arguments, loaded.value());
  progress.clear();
  if (!status.ok()) return fail("export", status.error());
  if (!to_stdout && !arguments.quiet) {
    return print_to_stdout("lockstep export",
                           fmt::format("wrote {}{}\n", output,
                                       arguments.format == "perfetto" || arguments.format == "chrome"
                                           ? ": open it in ui.perfetto.dev"
                                           : ""));
  }
  return kSuccess;
}

}  // namespace lockstep::cli

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/export/exporters.h"
#include "base/printable.h"
#include "base/standard_streams.h"
#include "cli/analysis/load.h"
#include "cli/analysis/reading.h"
#include "cli/analysis/verbs.h"
#include "cli/common/exit_codes.h"
#include "cli/common/output.h"
#include "cli/common/parse.h"
#include "cli/common/terminal.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExamples =
    "Examples:\n"
    "  lockstep export run --format perfetto\n"
    "  lockstep export run --format sqlite -o run.sqlite && sqlite3 run.sqlite 'SELECT * FROM rank_causes'\n"
    "  lockstep export rank*.json.gz --format csv -o tables\n"
    "\n"
    "Exit code: 0 written; 1 the input could not be read or the output not written;\n"
    "2 wrong usage, or an output that exists already and no --force.\n";

// "perfetto, chrome or csv", and a line on each.
struct Formats {
  std::vector<std::string> names;
  std::string listed, described = "Formats:\n";
};

Formats all_formats() {
  Formats formats;
  const auto exporters = analyzer::all_exporters();
  for (const analyzer::Exporter* exporter : exporters) {
    if (!formats.names.empty()) formats.listed += exporter == exporters.back() ? " or " : ", ";
    formats.names.emplace_back(exporter->name);
    formats.listed += exporter->name;
    formats.described += fmt::format("  {:<8}  {}\n", exporter->name, exporter->description);
  }
  return formats;
}

struct Arguments {
  std::vector<std::string> paths;
  std::string format, output;
  ReadingArguments reading;
  bool force = false, quiet = false, all_steps = false, as_recorded = false;
};

void describe(CLI::App& app, Arguments& arguments) {
  const Formats formats = all_formats();
  app.add_option("PATHS", arguments.paths, "A run folder, trace files, or a folder of trace files")
      ->required();
  app.add_option("-f,--format", arguments.format, formats.listed)
      ->required()
      ->check(CLI::IsMember(formats.names))
      ->option_text("FORMAT");
  app.add_option("-o,--output", arguments.output,
                 "File (csv: folder) to write; - is stdout [the run's name with the format's ending, here]")
      ->option_text("FILE");
  describe_reading(app, arguments.reading);
  app.add_flag("--all-steps", arguments.all_steps,
               "Findings and summaries over all that was recorded, not over the steady steps alone");
  app.add_flag("--as-recorded", arguments.as_recorded,
               "csv: names that begin with = + - @ as they are; else an apostrophe before them keeps "
               "spreadsheets from calculating them");
  app.add_flag("--force", arguments.force, "Overwrite what exists");
  app.add_flag("-q,--quiet", arguments.quiet, "Say nothing about progress and what was written");
  app.footer(formats.described + "\n" + kExamples);
}

// "runs/today/" and sqlite: "today.sqlite".
std::string default_output(const std::string& path, const analyzer::Exporter& exporter) {
  fs::path name = fs::path(path).lexically_normal();
  if (!name.has_filename()) name = name.parent_path();
  std::string stem = name.filename().string();
  for (const char* ending : {".gz", ".json", ".lst"}) {
    if (stem.ends_with(ending)) stem.resize(stem.size() - std::string_view(ending).size());
  }
  if (stem.empty() || stem == "." || stem == "..") stem = "run";
  return stem.append(exporter.ending);
}

}  // namespace

int run_export(int argc, char** argv) {
  CLI::App app("Converts a run, with what the analysis found in it, for other tools.", "lockstep export");
  Arguments arguments;
  describe(app, arguments);
  if (const auto exit_code = parse(app, argc, argv)) return *exit_code;
  const analyzer::Exporter& exporter = *analyzer::find_exporter(arguments.format);
  analyzer::ExportOptions options;
  if (arguments.force) options.overwrite = Overwrite::allow;
  if (arguments.as_recorded) options.formulas = analyzer::Formulas::as_recorded;
  const bool to_stdout = arguments.output == "-";
  if (to_stdout && exporter.write_stream == nullptr) {
    fail("export", Error{fmt::format("-o -: {}", exporter.why_no_stream)});
    return kUsage;
  }
  const std::string output =
      arguments.output.empty() ? default_output(arguments.paths.front(), exporter) : arguments.output;
  LoadOptions load;
  load.keep_host_ranges = true;
  load.progress = !arguments.quiet;
  if (const Status status = take_reading(arguments.reading, load.reading); !status.ok()) {
    fail("export", status.error());
    return kUsage;
  }
  // Looks before an hour of work is done for nothing.
  if (!to_stdout) {
    if (const Status free = analyzer::can_export(exporter, output, options.overwrite); !free.ok()) {
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
  const analyzer::Job& job = loaded.value().job;
  const analyzer::Analysis& analysis = loaded.value().analysis;
  const Status status =
      to_stdout
          ? write_to_stdout([&](std::ostream& out) { exporter.write_stream(job, analysis, options, out); })
          : analyzer::write_export(exporter, job, analysis, options, output);
  progress.clear();
  if (!status.ok()) return fail("export", status.error());
  if (!to_stdout && !arguments.quiet) {
    return print_to_stdout(
        "lockstep export",
        fmt::format(
            "wrote {}{}\n", printable(output),
            exporter.opened_with.empty() ? "" : fmt::format(": open it in {}", exporter.opened_with)));
  }
  return kSuccess;
}

}  // namespace lockstep::cli

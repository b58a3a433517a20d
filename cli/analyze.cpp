#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "analyzer/export/output_file.h"
#include "analyzer/report/json.h"
#include "analyzer/report/text.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/terminal.h"
#include "cli/verb.h"

namespace lockstep::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  lockstep analyze run                          a run recorded by `lockstep record -o run -- …`\n"
    "  lockstep analyze rank0.json.gz rank1.json.gz  torch.profiler (Kineto) traces, one file a rank\n"
    "  lockstep analyze report.sqlite                nsys export --type sqlite report.nsys-rep\n"
    "  lockstep analyze nccl_trace_rank_*            a job that hung: dumps of PyTorch's flight recorder\n"
    "  lockstep analyze traces/ --steps 3:5          a folder of them; three steps only\n"
    "  lockstep analyze run --json report.json       the same findings for a program (lockstep.report/1)\n"
    "  lockstep analyze run --json - | jq .findings\n"
    "\n"
    "Exit code: 0 analysed; 1 the input could not be read, has none of the steps asked for, or the report\n"
    "could not be written; 2 wrong usage.\n";

struct Arguments {
  std::vector<std::string> paths;
  std::string json, steps, ranks, collectives = "8", color = "auto";
  std::size_t width = 0;
  bool layers = false, ascii = false, quiet = false;
};

void describe(CLI::App& app, Arguments& arguments) {
  app.add_option("PATHS", arguments.paths, "A run folder, trace files, or a folder of trace files")
      ->required();
  app.add_option("--json", arguments.json,
                 "Write the report as JSON to FILE; - is stdout, and then nothing else is printed")
      ->option_text("FILE");
  app.add_option("--steps", arguments.steps, "Only these steps: N, A:B, A: or :B (both ends included)")
      ->option_text("A:B");
  app.add_option("--ranks", arguments.ranks, "Ranks to list; the most telling first [all up to 16, else 10]")
      ->option_text("N|all");
  app.add_option("--collectives", arguments.collectives, "Collectives to list; the most waited in first [8]")
      ->option_text("N|all");
  app.add_flag("--layers", arguments.layers,
               "List the time of each layer's passes, where the program told them");
  app.add_flag("--ascii", arguments.ascii, "No characters outside ASCII");
  app.add_option("--color", arguments.color,
                 "Colour: auto (on a terminal, unless NO_COLOR is set), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->option_text("WHEN");
  app.add_option("--width", arguments.width, "Columns of the report [COLUMNS, else the terminal's, else 100]")
      ->check(CLI::Range(40, 1000))
      ->option_text("N");
  app.add_flag("-q,--quiet", arguments.quiet,
               "Print no report and no progress; with --json, or for the exit code");
  app.footer(kExamples);
}

Status write_json_file(const analyzer::Report& report, const std::string& path) {
  // A report can be made again at any time: it replaces an older one.
  Result<analyzer::OutputFile> file = analyzer::OutputFile::create(path, analyzer::Overwrite::allow);
  if (!file.ok()) return Error{"--json " + path + ": " + file.error().message};
  analyzer::write_json(report, file.value().stream());
  if (const Status status = file.value().commit(); !status.ok()) {
    return Error{"--json " + path + ": " + status.error().message};
  }
  return {};
}

std::string describe_selection(const StepRange& steps) {
  if (!steps.first && !steps.last) return "";
  if (!steps.first) return fmt::format("steps to {}", *steps.last);
  if (!steps.last) return fmt::format("steps from {}", *steps.first);
  if (*steps.first == *steps.last) return fmt::format("step {}", *steps.first);
  return fmt::format("steps {} to {}", *steps.first, *steps.last);
}

}  // namespace

int run_analyze(int argc, char** argv) {
  CLI::App app(
      "Says why the ranks of a distributed job wait: overlap, exposed communication, who waited for whom, "
      "and\n"
      "one cause for every nanosecond.",
      "lockstep analyze");
  Arguments arguments;
  describe(app, arguments);
  if (const auto exit_code = parse(app, argc, argv)) return *exit_code;

  const auto wrong = [](const Error& error) {
    fail("analyze", error);
    return kUsage;
  };
  StepRange steps;
  if (app.count("--steps") > 0) {
    const Result<StepRange> range = parse_step_range(arguments.steps);
    if (!range.ok()) return wrong(range.error());
    steps = range.value();
  }
  const Result<std::size_t> ranks = parse_rows("--ranks", arguments.ranks.empty() ? "all" : arguments.ranks);
  if (!ranks.ok()) return wrong(ranks.error());
  const Result<std::size_t> collectives = parse_rows("--collectives", arguments.collectives);
  if (!collectives.ok()) return wrong(collectives.error());

  for (const std::string& path : arguments.paths) {
    std::error_code none;
    if (!arguments.json.empty() && std::filesystem::equivalent(path, arguments.json, none)) {
      return wrong(
          Error{"--json " + arguments.json + ": that is the trace; name another file for the report"});
    }
  }

  LoadOptions load;
  load.analysis.first_step = steps.first;
  load.analysis.last_step = steps.last;
  load.analysis.keep_segments = false;
  load.progress = !arguments.quiet;
  const Result<LoadedJob> loaded = load_job(arguments.paths, load);
  if (!loaded.ok()) return fail("analyze", loaded.error());
  const analyzer::Report& report = loaded.value().analysis.report;

  Status status;
  if (arguments.json == "-") {
    status = write_to_stdout([&](std::ostream& out) { analyzer::write_json(report, out); });
    return status.ok() ? kSuccess : fail("analyze", status.error());
  }
  if (!arguments.json.empty()) status = write_json_file(report, arguments.json);
  if (!arguments.quiet) {
    analyzer::TextOptions options;
    const ColorChoice color = arguments.color == "always"  ? ColorChoice::always
                              : arguments.color == "never" ? ColorChoice::never
                                                           : ColorChoice::automatic;
    options.page = page_options_for_stdout(color);
    if (arguments.width != 0) options.page.width = arguments.width;
    options.page.ascii = options.page.ascii || arguments.ascii;
    if (!arguments.ranks.empty()) options.ranks = ranks.value();
    options.collectives = collectives.value();
    options.layers = arguments.layers;
    options.selection = describe_selection(steps);
    for (const analyzer::RankTrace& rank : loaded.value().job.ranks) {
      options.resolution_ns = std::max(options.resolution_ns, rank.resolution_ns);
    }
    const Status printed =
        write_to_stdout([&](std::ostream& out) { out << analyzer::to_text(report, options); });
    if (status.ok()) status = printed;
  }
  return status.ok() ? kSuccess : fail("analyze", status.error());
}

}  // namespace lockstep::cli

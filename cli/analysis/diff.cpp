// `lockstep diff`: by what two runs, or two sets of runs, differ.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diff/diff_outputs.h"
#include "analyzer/diff/run_sums.h"
#include "cli/analysis/different_paths.h"
#include "cli/analysis/load.h"
#include "cli/analysis/reading.h"
#include "cli/analysis/selection.h"
#include "cli/analysis/verbs.h"
#include "cli/common/exit_codes.h"
#include "cli/common/output.h"
#include "cli/common/parse.h"
#include "cli/common/terminal.h"

namespace lockstep::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  lockstep diff before after                            what became of the step's time\n"
    "  lockstep diff old1 old2 old3 --to new1 new2 new3      sets of runs: what runs differ by anyway is known\n"
    "  lockstep diff before after --json - | jq .headline    for a program (lockstep.diff/1)\n"
    "\n"
    "Exit code: 0 compared, whatever came out (`lockstep check` judges); 1 the input could not be read or the\n"
    "output not written; 2 wrong usage.\n";

struct Arguments {
  std::vector<std::string> runs, to;
  std::string json, rows = "8";
  ReadingArguments reading;
  TextArguments text;
  bool quiet = false;
};

void describe(CLI::App& app, Arguments& arguments) {
  app.add_option("RUNS", arguments.runs, "Two runs, A and B; or, with --to, the runs of A")->required();
  app.add_option("--to", arguments.to, "The runs of B, where there are several of a side")
      ->option_text("RUN…");
  app.add_option("--json", arguments.json,
                 "Write it as JSON (lockstep.diff/1); - is stdout, and nothing else")
      ->option_text("FILE");
  app.add_option("--rows", arguments.rows, "Rows of each table; what changed most comes first [8]")
      ->option_text("N|all");
  describe_reading(app, arguments.reading);
  describe_text(app, arguments.text);
  app.add_flag("-q,--quiet", arguments.quiet, "Print no text and no progress; with --json");
  app.footer(kFooter);
}

// What is kept of a run once its report is gone.
struct Run {
  analyzer::RunSums sums;
  analyzer::RunSettings settings;
};

Result<Run> read_run(const std::string& path, const Arguments& arguments) {
  const Result<LoadedJob> loaded = load_steady_run(path, arguments.reading, !arguments.quiet);
  if (!loaded.ok()) return loaded.error();
  Result<analyzer::RunSums> sums = analyzer::run_sums(loaded.value().analysis.report);
  if (!sums.ok()) return sums.error();
  return Run{std::move(sums).value(), analyzer::settings_of(loaded.value().job)};
}

// A side's runs, and the settings of its first.
Result<std::pair<std::vector<analyzer::RunSums>, analyzer::RunSettings>> read_side(
    const std::vector<std::string>& paths, const Arguments& arguments) {
  std::pair<std::vector<analyzer::RunSums>, analyzer::RunSettings> side;
  for (const std::string& path : paths) {
    Result<Run> run = read_run(path, arguments);
    if (!run.ok()) return run.error();
    if (side.first.empty()) side.second = std::move(run.value().settings);
    side.first.push_back(std::move(run.value().sums));
  }
  return side;
}

int diff(Arguments arguments) {
  const auto wrong = [](const Error& error) {
    fail("diff", error);
    return kUsage;
  };
  if (arguments.to.empty()) {
    if (arguments.runs.size() != 2)
      return wrong(
          Error{fmt::format("{} given: two are compared, or sets of them: lockstep diff A1 A2 --to B1 B2",
                            arguments.runs.size() == 1 ? "one run was" : "more than two runs were")});
    arguments.to.push_back(std::move(arguments.runs.back()));
    arguments.runs.pop_back();
  }
  const Result<std::size_t> rows = parse_rows("--rows", arguments.rows);
  if (!rows.ok()) return wrong(rows.error());
  if (const Status status = check_different_paths(arguments.runs, arguments.to); !status.ok())
    return wrong(status.error());
  auto a = read_side(arguments.runs, arguments);
  if (!a.ok()) return fail("diff", a.error());
  auto b = read_side(arguments.to, arguments);
  if (!b.ok()) return fail("diff", b.error());
  std::vector<const analyzer::RunSums*> all;
  for (const auto* side : {&a.value().first, &b.value().first})
    for (const analyzer::RunSums& run : *side) all.push_back(&run);
  if (const Status different = analyzer::check_different(all); !different.ok())
    return wrong(different.error());
  const std::vector<analyzer::Suspect> suspects = analyzer::suspects(a.value().second, b.value().second);
  const Result<analyzer::RunsDiff> compared =
      analyzer::diff_runs(std::move(a.value().first), std::move(b.value().first));
  if (!compared.ok()) return fail("diff", compared.error());

  Status status;
  if (!arguments.json.empty()) {
    const auto write_json = [&](std::ostream& out) {
      out << analyzer::to_json(compared.value(), suspects).dump(1) << "\n";
    };
    status = arguments.json == "-" ? write_to_stdout(write_json)
                                   : write_file("--json", arguments.json, write_json);
  }
  if (status.ok() && arguments.json != "-" && !arguments.quiet) {
    const analyzer::DiffTextOptions text{.page = page_options_for_stdout(arguments.text),
                                         .rows = rows.value()};
    status = write_to_stdout(
        [&](std::ostream& out) { out << analyzer::to_text(compared.value(), suspects, text); });
  }
  return status.ok() ? kSuccess : fail("diff", status.error());
}

}  // namespace

int run_diff(int argc, char** argv) {
  CLI::App app(
      "Says by what two runs differ: the difference of their steps' time, split over causes, ranks, collectives and layers.",
      "lockstep diff");
  Arguments arguments;
  describe(app, arguments);
  if (const auto exit_code = parse(app, argc, argv)) return *exit_code;
  return diff(std::move(arguments));
}

}  // namespace lockstep::cli

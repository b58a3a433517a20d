// `lockstep scale`: how a job scales, from runs on different numbers of ranks, which it makes itself where it
// is given a command.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/scaling/scale_run.h"
#include "analyzer/scaling/scaling_outputs.h"
#include "base/numbers.h"
#include "cli/analysis/load.h"
#include "cli/analysis/reading.h"
#include "cli/analysis/sweep.h"
#include "cli/analysis/verbs.h"
#include "cli/common/exit_codes.h"
#include "cli/common/output.h"
#include "cli/common/parse.h"
#include "cli/common/terminal.h"

namespace lockstep::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  lockstep scale --ranks 1,2,4 -- torchrun --nproc-per-node {ranks} train.py     records and compares 9 runs\n"
    "  lockstep scale --ranks 8,16 --ranks-per-host 8 -o scaling -- srun -N {hosts} -n {ranks} ./train\n"
    "  lockstep scale scaling/ranks-*/run-*                                            runs that there are\n"
    "  lockstep scale run1 run8 --strong --html scaling.html\n"
    "\n"
    "Behind -- stands what is run: {ranks} is replaced; without it, the flag of torchrun, mpirun, srun, accelerate, deepspeed\n"
    "and lockstep train is set. What was interrupted goes on where the same command is given again.\n"
    "\n"
    "Exit code: 0 measured; 1 a run failed or could not be read, or the output not be written; 2 wrong usage.\n";

struct Arguments {
  std::vector<std::string> runs;
  std::string ranks, folder = "lockstep-scale", json, html;
  std::int32_t count = 3;
  std::optional<std::int32_t> ranks_per_host;
  ReadingArguments reading;
  TextArguments text;
  bool weak = false, strong = false, quiet = false;
};

void describe(CLI::App& app, Arguments& arguments) {
  app.add_option("RUNS", arguments.runs,
                 "Runs to compare, of two sizes at least; several of a size tell more");
  app.add_option("--ranks", arguments.ranks, "On how many ranks the command behind -- is run: 1,2,4")
      ->option_text("LIST");
  app.add_option("--runs", arguments.count, "Runs of each size [3]")
      ->check(CLI::Range(1, 1000))
      ->option_text("N");
  app.add_option("-o,--output", arguments.folder, "Folder for the runs [lockstep-scale]")
      ->option_text("FOLDER");
  app.add_option("--ranks-per-host", arguments.ranks_per_host, "What {hosts} in the command is computed with")
      ->check(CLI::Range(1, 100'000))
      ->option_text("N");
  app.add_flag("--weak", arguments.weak,
               "Each rank's work stays the same [told from how much a rank computes]");
  app.add_flag("--strong", arguments.strong, "The whole job's work stays the same")->excludes("--weak");
  app.add_option("--json", arguments.json,
                 "Write it as JSON (lockstep.scale/1); - is stdout, and nothing else")
      ->option_text("FILE");
  app.add_option("--html", arguments.html, "Write it as one web page with charts")->option_text("FILE");
  describe_reading(app, arguments.reading);
  describe_text(app, arguments.text);
  app.add_flag("-q,--quiet", arguments.quiet, "Print no text and no progress; with --json or --html");
  app.footer(kFooter);
}

int wrong(const Error& error) {
  fail("scale", error);
  return kUsage;
}

// "1,2,4", ascending and each once.
Result<std::vector<std::int32_t>> parse_sizes(const std::string& text) {
  const Error error{fmt::format("--ranks {}: give two numbers of ranks or more, as in 1,2,4", text)};
  std::set<std::int32_t> sizes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto size = parse_number<std::int32_t>(std::string_view(text).substr(begin, end - begin), 1);
    if (!size) return error;
    sizes.insert(*size);
    begin = end + 1;
  }
  if (sizes.size() < 2) return error;
  return std::vector<std::int32_t>(sizes.begin(), sizes.end());
}

Result<analyzer::ScaleRun> read_run(const std::string& path, const Arguments& arguments) {
  const Result<LoadedJob> loaded = load_steady_run(path, arguments.reading, !arguments.quiet);
  if (!loaded.ok()) return loaded.error();
  return analyzer::scale_run(loaded.value().job, loaded.value().analysis.report);
}

Status write_outputs(const Arguments& arguments, const analyzer::Scaling& scaling) {
  const auto json = [&](std::ostream& out) { out << analyzer::to_json(scaling).dump(1) << "\n"; };
  if (arguments.json == "-") return write_to_stdout(json);
  if (!arguments.json.empty())
    if (const Status status = write_file("--json", arguments.json, json); !status.ok()) return status;
  if (!arguments.html.empty()) {
    const auto html = [&](std::ostream& out) { out << analyzer::to_html(scaling); };
    if (const Status status = write_file("--html", arguments.html, html); !status.ok()) return status;
  }
  if (arguments.quiet) return {};
  const analyzer::PageOptions page = page_options_for_stdout(arguments.text);
  return write_to_stdout([&](std::ostream& out) { out << analyzer::to_text(scaling, page); });
}

// The runs that are compared: those that were named, or those that the command is run for.
Result<std::vector<std::string>> runs_to_compare(const Arguments& arguments, std::vector<std::string> command,
                                                 std::vector<std::int32_t> sizes) {
  if (command.empty()) return arguments.runs;
  const Sweep sweep{.ranks = std::move(sizes),
                    .runs = arguments.count,
                    .folder = arguments.folder,
                    .command = std::move(command),
                    .ranks_per_host = arguments.ranks_per_host,
                    .quiet = arguments.quiet};
  if (const Status made = make_runs(sweep); !made.ok()) return made.error();
  std::vector<std::string> paths;
  for (const SweepRun& run : runs_of(sweep)) paths.push_back(run.folder.string());
  return paths;
}

// Before hours of runs, not behind them.
Status check_outputs(const Arguments& arguments) {
  for (const auto& [flag, path] :
       {std::pair("--json", arguments.json), std::pair("--html", arguments.html)}) {
    if (path.empty() || path == "-") continue;
    const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error))
      return Error{fmt::format("{} {}: there is no folder {}", flag, path, folder.string())};
  }
  return {};
}

int scale(const Arguments& arguments, std::vector<std::string> command, bool has_command) {
  if (const Status status = check_outputs(arguments); !status.ok()) return fail("scale", status.error());
  std::vector<std::int32_t> sizes;
  if (has_command) {
    if (command.empty()) return wrong(Error{"there is no command behind --"});
    if (!arguments.runs.empty())
      return wrong(Error{
          fmt::format("{}: give runs to compare, or a command behind --, not both", arguments.runs.front())});
    if (arguments.ranks.empty())
      return wrong(
          Error{"--ranks is missing: on how many ranks is the command to be run? --ranks 1,2,4, say"});
    const Result<std::vector<std::int32_t>> parsed = parse_sizes(arguments.ranks);
    if (!parsed.ok()) return wrong(parsed.error());
    sizes = parsed.value();
    const auto made = command_on(command, sizes.front(), arguments.ranks_per_host);
    if (!made.ok()) return wrong(made.error());
  } else if (arguments.runs.empty()) {
    return wrong(
        Error{"give runs to compare, or --ranks 1,2,4 and a command behind -- (see lockstep scale --help)"});
  }
  const Result<std::vector<std::string>> paths =
      runs_to_compare(arguments, std::move(command), std::move(sizes));
  if (!paths.ok()) return fail("scale", paths.error());
  std::vector<analyzer::ScaleRun> runs;
  for (const std::string& path : paths.value()) {
    Result<analyzer::ScaleRun> run = read_run(path, arguments);
    if (!run.ok()) return fail("scale", run.error());
    runs.push_back(std::move(run).value());
  }
  const std::optional<analyzer::ScalingKind> kind =
      arguments.weak     ? std::optional(analyzer::ScalingKind::weak)
      : arguments.strong ? std::optional(analyzer::ScalingKind::strong)
                         : std::nullopt;
  const Result<analyzer::Scaling> scaling = analyzer::scaling_of(runs, kind);
  if (!scaling.ok()) return fail("scale", scaling.error());
  const Status status = write_outputs(arguments, scaling.value());
  return status.ok() ? kSuccess : fail("scale", status.error());
}

}  // namespace

int run_scale(int argc, char** argv) {
  CLI::App app("Says how a job scales: scaling efficiency with intervals, and to which causes it is lost.",
               "lockstep scale");
  Arguments arguments;
  describe(app, arguments);
  int own = 0;
  while (own < argc && std::strcmp(argv[own], "--") != 0) ++own;
  if (const auto exit_code = parse(app, own, argv)) return *exit_code;
  const bool has_command = own < argc;
  return scale(
      arguments,
      has_command ? std::vector<std::string>(argv + own + 1, argv + argc) : std::vector<std::string>(),
      has_command);
}

}  // namespace lockstep::cli

#include "tracer/recorder/collect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "base/counts.h"
#include "base/printable.h"
#include "base/standard_streams.h"
#include "cli/common/exit_codes.h"
#include "cli/common/output.h"
#include "cli/common/parse.h"
#include "cli/recording/verbs.h"
#include "tracer/recorder/progress.h"

namespace lockstep::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  lockstep collect node1-run node2-run -o run         what each node recorded on its own disk\n"
    "  lockstep collect /mnt/*/lockstep-run-001 -o run && lockstep analyze run\n"
    "\n"
    "Every rank may come once. The runs stay as they are; what they hold is copied.\n"
    "\n"
    "Exit code: 0 joined; 1 a run could not be read or the files not written; 2 wrong usage, or an output "
    "folder\n"
    "that holds something.\n";

}  // namespace

int run_collect(int argc, char** argv) {
  CLI::App app("Joins run folders that were recorded on the local disks of several hosts into one.",
               "lockstep collect");
  std::vector<std::string> runs;
  std::string output;
  bool quiet = false, force = false;
  app.add_option("RUNS", runs, "The run folders to join")->required();
  app.add_option("-o,--output", output, "The run folder to create")->required()->option_text("RUN");
  app.add_flag("--force", force, "Overwrite a run that is in the folder; other files are never touched");
  app.add_flag("-q,--quiet", quiet, "Say nothing where all went well");
  app.footer(kExamples);
  if (const auto exit_code = parse(app, argc, argv)) return *exit_code;
  const std::vector<std::filesystem::path> paths(runs.begin(), runs.end());
  bool refused = false;
  const Result<tracer::record::Collected> collected = tracer::record::collect(paths, output, force, &refused);
  if (!collected.ok()) {
    const int failure = fail("collect", collected.error());
    return refused ? kUsage : failure;
  }
  if (quiet) return kSuccess;
  const tracer::record::Collected& run = collected.value();
  for (const std::string& note : run.notes) tell(fmt::format("lockstep collect: {}\n", note));
  const std::string joined = printable(output);
  std::string text =
      fmt::format("{}: {} and {} of {} ({})\n", joined, format_plural(run.ranks, "rank", "ranks"),
                  format_plural(run.processes, "other process", "other processes"),
                  format_plural(run.hosts.size(), "host", "hosts"),
                  printable(fmt::format("{}", fmt::join(run.hosts, ", "))));
  if (!run.missing_ranks.empty())
    text += fmt::format("still missing: {} {}\n", run.missing_ranks.size() == 1 ? "rank" : "ranks",
                        fmt::join(run.missing_ranks, ", "));
  return print_to_stdout("lockstep collect", text + fmt::format("next: lockstep analyze {}\n", joined));
}

}  // namespace lockstep::cli

#include "tracer/recorder/record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/standard_streams.h"
#include "cli/common/exit_codes.h"
#include "cli/common/output.h"
#include "cli/common/parse.h"
#include "cli/recording/record_plan.h"
#include "cli/recording/record_sync.h"
#include "cli/recording/verbs.h"
#include "tracer/recorder/attach.h"

namespace lockstep::cli {
namespace {

constexpr int kUsageError = 2;
constexpr int kSignalBase = 128;

constexpr const char* kExamples =
    "Examples:\n"
    "  lockstep record -o run -- torchrun --nproc-per-node 8 train.py   all ranks of one machine\n"
    "  lockstep record -- lockstep train --ranks 4 --steps 20           into lockstep-run-001, -002, …\n"
    "  srun lockstep record -o /shared/run -- python train.py           one recorder a rank, one run\n"
    "  lockstep record -o run --force -- ./train                        over the run of before\n"
    "  lockstep record --steps 100:110 -- torchrun … train.py           eleven steps; the rest pays nothing\n"
    "  lockstep record --delay 5m --duration 30s -- ./train             half a minute, five minutes in\n"
    "  lockstep record --ring 30s --hang-timeout 10m -- ./train         the last 30 s of what went wrong\n"
    "  lockstep record --operators -- torchrun … train.py               where in the model a rank is slower\n"
    "  lockstep record --attach run status                              of a running job, on this host\n"
    "\n"
    "What is recorded, of the command and of all processes that it starts: every NVTX call; what PyTorch "
    "does\n"
    "(collectives, steps, phases); what they do on NVIDIA GPUs (kernels, copies, waits, and the calls that\n"
    "launch them, through CUPTI; NCCL's operations); on request (--cpu) counters of the host. One file a "
    "rank\n"
    "(rank-<N>.lst) and one for each process that is no rank. Rank and world size come from the variables "
    "of\n"
    "torchrun, Open MPI, PMI and Slurm. The run folder's manifest.json says what ran and what came of it.\n"
    "\n"
    "Every flag of what is recorded has a variable that is its default: LOCKSTEP_STEPS for --steps, and so "
    "on\n"
    "(docs/recording.md).\n"
    "\n"
    "Exit code: the command's own, also where the run folder cannot be written: then the command runs\n"
    "unrecorded, and that is said. 127 if it does not exist, 126 if it cannot be executed; 2 for a wrong "
    "command\n"
    "line or a run folder that holds something or is being recorded into. Killed by a signal: so is "
    "lockstep.\n";

// The command isn't an option of ours: its place in the usage line has to be said.
class Help : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: lockstep record [OPTIONS] -- COMMAND [ARGUMENTS]...\n"
           "       lockstep record --attach RUN start|stop|snapshot|status\n";
  }
};

// The words before the first "--" and those after it.
struct Split {
  std::vector<char*> ours;
  std::vector<std::string> command;
  bool has_dashes = false;
};

Split split_at_dashes(int argc, char** argv) {
  Split split;
  for (int i = 0; i < argc; ++i) {
    if (split.has_dashes) {
      split.command.emplace_back(argv[i]);
    } else if (std::string_view(argv[i]) == "--") {
      split.has_dashes = true;
    } else {
      split.ours.push_back(argv[i]);
    }
  }
  return split;
}

// Of a command line that is whole, the words of the command, before the recorder has its own last resort.
char** command_alone = nullptr;
bool quiet_alone = false;

int wrong_usage(std::string_view message) {
  tell(fmt::format("lockstep record: {}\nSee lockstep record --help.\n", message));
  return kUsageError;
}

int attach(const std::string& run, const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 4> kRequests{"start", "stop", "snapshot", "status"};
  if (words.size() != 1 || std::find(kRequests.begin(), kRequests.end(), words.front()) == kRequests.end()) {
    return wrong_usage(fmt::format("--attach {}: say one of start, stop, snapshot and status behind it{}",
                                   run,
                                   words.empty() ? "" : fmt::format(", not '{}'", fmt::join(words, " "))));
  }
  return tracer::record::attach(run, words.front());
}

int record_command(int argc, char** argv) {
  CLI::App app("Runs a command and records every process of it.", "lockstep record");
  app.formatter(std::make_shared<Help>());
  tracer::record::Options options;
  std::string run;
  PlanArguments plan;
  SyncArguments sync;
  app.add_option("-o,--output", run, "The run folder to create [lockstep-run-001, or the next free number]")
      ->option_text("RUN");
  app.add_flag("--force", options.force,
               "Overwrite a run that is in the folder; other files are never touched");
  app.add_flag(
      "-q,--quiet", options.quiet,
      "Print nothing of our own: no progress, warnings and summary; but why a command was not run, and "
      "what --hang-timeout was given for");
  std::string python_hook = "on";
  app.add_option("--python-hook", python_hook,
                 "on: follow PyTorch in every Python process of the command; off: leave Python alone [on]")
      ->check(CLI::IsMember({"on", "off"}))
      ->option_text("on|off");
  std::string attached;
  app.add_option(
         "--attach", attached,
         "Speak to the processes of a running job that is recorded into RUN, on this host: status, start, "
         "stop, or snapshot (write what is held and open)")
      ->option_text("RUN start|stop|snapshot|status");
  describe(app, plan);
  describe(app, sync);
  app.footer(kExamples);
  app.prefix_command();  // the first word that is none of ours ends our options
  const Split split = split_at_dashes(argc, argv);
  try {
    app.parse(static_cast<int>(split.ours.size()), split.ours.data());
  } catch (const CLI::CallForHelp&) {
    return print_to_stdout(app.get_name(), app.help());
  } catch (const CLI::ParseError& error) {
    return wrong_usage(explain(app, error));
  }
  const std::vector<std::string> left = app.remaining();
  if (app.count("--attach") != 0 && split.has_dashes && !left.empty()) {
    return wrong_usage(
        fmt::format("--attach {} takes one request (start, stop, snapshot or status) and no command: the job "
                    "runs already",
                    attached));
  }
  if (!left.empty() && (split.has_dashes || left.front().starts_with('-'))) {
    return wrong_usage(fmt::format("'{}' is no option of lockstep record{}", left.front(),
                                   split.has_dashes ? "; the command comes after --" : ""));
  }
  options.command = split.has_dashes ? split.command : left;
  if (app.count("--attach") != 0) return attach(attached, options.command);
  if (options.command.empty() || options.command.front().empty()) {
    return wrong_usage(
        "there is no command to run: give it after --, as in lockstep record -o run -- ./train");
  }
  if (app.count("--output") != 0 && run.empty()) {
    return wrong_usage("--output '' names no folder");
  }
  if (const Status status = fill_plan(plan, app, std::getenv, options); !status.ok()) {
    return wrong_usage(status.error().message);
  }
  if (const Status status = fill_sync(sync, std::getenv, options); !status.ok()) {
    return wrong_usage(status.error().message);
  }
  options.run = run;
  options.python_hook = python_hook == "on";
  command_alone = argv + (argc - static_cast<int>(options.command.size()));
  quiet_alone = options.quiet;
  const tracer::record::Ending ending = tracer::record::record(options);
  if (ending.signal == 0) return ending.exit_code;
  tracer::record::die_by(ending.signal);
  return kSignalBase + ending.signal;
}

// Where there is no memory even for an exception.
[[noreturn]] void run_unrecorded() {
  if (command_alone == nullptr) _exit(kFailure);
  if (!quiet_alone) write_to_stderr("lockstep record: out of memory; the command runs unrecorded.\n");
  execvp(command_alone[0], command_alone);
  _exit(126);
}

}  // namespace

int run_record(int argc, char** argv) {
  // Before the words are read, all that is known of the command is where it begins.
  char** const end = argv + argc;
  char** const dashes =
      std::find_if(argv, end, [](const char* word) { return std::strcmp(word, "--") == 0; });
  if (end - dashes >= 2) command_alone = dashes + 1;
  quiet_alone = std::any_of(argv, dashes, [](const char* word) {
    return std::strcmp(word, "-q") == 0 || std::strcmp(word, "--quiet") == 0;
  });
  const std::terminate_handler before = std::set_terminate(run_unrecorded);
  int code = 0;
  try {
    code = record_command(argc, argv);
  } catch (...) {
    // The recorder throws nothing: whatever came here came before it began.
    if (command_alone == nullptr) throw;
    run_unrecorded();
  }
  if (std::get_terminate() == run_unrecorded) std::set_terminate(before);
  return code;
}

}  // namespace lockstep::cli

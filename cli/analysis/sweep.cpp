#include "cli/analysis/sweep.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/counts.h"
#include "base/own_program.h"
#include "base/small_file.h"
#include "base/standard_streams.h"
#include "base/words.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

enum class State : std::uint8_t { missing, done, unfinished, of_another_command };

State state_of(const fs::path& folder, const std::vector<std::string>& command) {
  std::error_code error;
  if (!fs::exists(folder, error)) return State::missing;
  const nlohmann::json manifest =
      nlohmann::json::parse(read_small_file((folder / "manifest.json").string(), kWholeFile), nullptr, false);
  if (!manifest.is_object()) return State::unfinished;
  const auto same = [&](const char* key, const nlohmann::json& value) {
    const auto found = manifest.find(key);
    return found != manifest.end() && *found == value;
  };
  if (!same("command", command)) return State::of_another_command;
  return same("state", "finished") && same("exit_code", 0) ? State::done : State::unfinished;
}

// Nothing that was recorded is deleted.
Status move_aside(const fs::path& folder) {
  std::error_code error;
  for (int number = 1; number < 1000; ++number) {
    const fs::path aside = folder.string() + fmt::format("-unfinished-{}", number);
    if (fs::exists(aside, error)) continue;
    fs::rename(folder, aside, error);
    if (!error) return {};
    break;
  }
  return Error{
      fmt::format("cannot move {} aside, which did not end well: {}", folder.string(), error.message())};
}

// While a job runs, Ctrl-C is for it: it ends, and then this does.
class IgnoreInterrupts {
 public:
  IgnoreInterrupts() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &interrupt_);
    sigaction(SIGQUIT, &ignore, &quit_);
  }
  IgnoreInterrupts(const IgnoreInterrupts&) = delete;
  IgnoreInterrupts& operator=(const IgnoreInterrupts&) = delete;
  ~IgnoreInterrupts() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGQUIT, &quit_, nullptr);
  }

 private:
  struct sigaction interrupt_ {
  }, quit_{};
};

// Its stdout is our stderr: our own is for the result.
Result<int> run_and_wait(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  sigaddset(&defaults, SIGQUIT);
  if (is_file_size_signal_ignored_by_us()) sigaddset(&defaults, SIGXFSZ);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const IgnoreInterrupts ignored;
  const int error = posix_spawn(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return Error{fmt::format("cannot start {}: {}", command.front(), std::strerror(error))};
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return Error{fmt::format("lost {}: {}", command.front(), std::strerror(errno))};
  return status;
}

std::string how_it_ended(int status) {
  return WIFSIGNALED(status) ? fmt::format("by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                             : fmt::format("with exit code {}", WEXITSTATUS(status));
}

Status make_run(const Sweep& sweep, const SweepRun& run, const std::vector<std::string>& command,
                const std::string& recorder) {
  std::error_code error;
  fs::create_directories(run.folder.parent_path(), error);
  if (error)
    return Error{fmt::format("cannot create {}: {}", run.folder.parent_path().string(), error.message())};
  std::vector<std::string> words{recorder, "record", "-o", run.folder.string()};
  if (sweep.quiet) words.emplace_back("--quiet");
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  const Result<int> status = run_and_wait(words);
  if (!status.ok()) return status.error();
  if (status.value() == 0) return {};
  const bool interrupted = WIFSIGNALED(status.value()) ? WTERMSIG(status.value()) == SIGINT
                                                       : WEXITSTATUS(status.value()) == 128 + SIGINT;
  if (interrupted)
    return Error{"interrupted; runs that ended are kept, and the same command goes on from here"};
  return Error{fmt::format(
      "the run on {} ended {}: {}. Runs before it are kept, and the same command goes on from here",
      format_plural(run.ranks, "rank"), how_it_ended(status.value()), join_words(command, " "))};
}

}  // namespace

std::vector<SweepRun> runs_of(const Sweep& sweep) {
  std::vector<SweepRun> runs;
  for (std::int32_t number = 1; number <= sweep.runs; ++number) {
    std::vector<std::int32_t> order = sweep.ranks;
    if (number % 2 == 0) std::ranges::reverse(order);
    for (const std::int32_t ranks : order)
      runs.push_back({ranks, sweep.folder / fmt::format("ranks-{}", ranks) / fmt::format("run-{}", number)});
  }
  return runs;
}

Status make_runs(const Sweep& sweep) {
  std::error_code error;
  const std::string recorder = (own_program(error).parent_path() / "lockstep").string();
  if (error) return Error{"cannot find out where lockstep itself is: " + error.message()};
  const std::vector<SweepRun> runs = runs_of(sweep);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Result<std::vector<std::string>> command =
        command_on(sweep.command, runs[i].ranks, sweep.ranks_per_host);
    if (!command.ok()) return command.error();
    const auto say = [&](const char* what) {
      if (!sweep.quiet)
        tell(fmt::format("lockstep scale: {} of {}: {} {}\n", i + 1, runs.size(), runs[i].folder.string(),
                         what));
    };
    switch (state_of(runs[i].folder, command.value())) {
      case State::done:
        say("is there");
        continue;
      case State::of_another_command:
        return Error{fmt::format("{} is a run of another command: name another folder with -o",
                                 runs[i].folder.string())};
      case State::unfinished:
        say("did not end well, and is moved aside");
        if (Status moved = move_aside(runs[i].folder); !moved.ok()) return moved;
        break;
      case State::missing:
        break;
    }
    say("recording it");
    if (Status made = make_run(sweep, runs[i], command.value(), recorder); !made.ok()) return made;
  }
  return {};
}

}  // namespace lockstep::cli

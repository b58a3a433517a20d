// lockstep-train: the reference trainer. Either starts the ranks of a job, or is one of them.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <exception>
#include <ostream>
#include <string>

#include "base/standard_output.h"
#include "base/standard_streams.h"
#include "reference_trainer/command_line/command_line.h"
#include "reference_trainer/data/training_data.h"
#include "reference_trainer/distributed/failure_message.h"
#include "reference_trainer/distributed/store_server.h"
#include "reference_trainer/launcher/launcher.h"
#include "reference_trainer/launcher/placement.h"
#include "reference_trainer/logging/standard_output.h"
#include "reference_trainer/training/training.h"

namespace lockstep::trainer {
namespace {

constexpr int kTrainingFailed = 1;
constexpr int kWrongUse = 2;

int fail(int code, const std::string& message) {
  tell(fmt::format("lockstep-train: {}\n", message));
  return code;
}

// Gloo's own threads throw where a message is not as it was announced, and nobody catches that: it ends the
// process, but as a failure of the training, in words. What is no exception stays an abort.
[[noreturn]] void end_with_words() {
  if (const std::exception_ptr current = std::current_exception()) {
    try {
      std::rethrow_exception(current);
    } catch (const std::exception& error) {
      const char* const rank = std::getenv("RANK");
      tell(fmt::format("lockstep-train: {}{}training stopped: {}\n",
                       rank == nullptr ? "" : fmt::format("rank {}", rank), rank == nullptr ? "" : ": ",
                       without_source_places(error.what())));
      _exit(kTrainingFailed);
    } catch (...) {
    }
  }
  std::abort();
}

// An absolute path, because the ranks are started from it.
std::string own_executable() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  return length < 0 ? std::string("/proc/self/exe")
                    : std::string(path.data(), static_cast<std::size_t>(length));
}

int launch(const Options& options, int argc, char** argv) {
  // Once, here, so that a text that is too short is reported once and not by every rank.
  if (const auto text = load_training_text(options, options.ranks); !text.ok())
    return fail(kWrongUse, text.error().message);
  block_launcher_signals();
  const auto store = StoreServer::start();
  if (!store.ok()) return fail(kTrainingFailed, store.error().message);
  const auto outcome = run_ranks({.executable = own_executable(),
                                  .arguments = {argv, argv + argc},
                                  .ranks = options.ranks,
                                  .master_port = store.value()->port()});
  if (!outcome.ok()) return fail(kTrainingFailed, outcome.error().message);
  if (outcome.value().exit_code == 0) return 0;
  return fail(outcome.value().exit_code, outcome.value().message);
}

int be_rank(const Options& options, const Placement& placement) {
  ignore_broken_pipes();
  const auto text = load_training_text(options, placement.world_size);
  if (!text.ok()) return fail(kWrongUse, text.error().message);
  if (placement.rank == 0) {
    for (const std::string& warning : options.warnings)
      tell(fmt::format("lockstep-train: warning: {}\n", warning));
  }
  const Status status = train(options, placement, text.value());
  if (status.ok()) return 0;
  return fail(kTrainingFailed, placement.world_size == 1
                                   ? status.error().message
                                   : fmt::format("rank {}: {}", placement.rank, status.error().message));
}

Status settle(Options& options, int world_size) {
  if (Status status = settle_options(options, world_size); !status.ok()) return status;
  return check_options(options, world_size);
}

int run(int argc, char** argv) {
  const CommandLine line = parse_command_line(argc, argv);
  if (line.exits) {
    if (line.exit_code != 0) {
      tell(line.output);
      return line.exit_code;
    }
    const Status printed = write_to_stdout([&](std::ostream& out) { out << line.output; });
    return printed.ok() ? 0 : fail(kTrainingFailed, printed.error().message);
  }
  Options options = line.options;
  const auto launched = read_placement([](const char* name) -> const char* { return std::getenv(name); });
  if (!launched.ok()) return fail(kWrongUse, launched.error().message);
  if (launched.value().has_value()) {
    const Placement& placement = *launched.value();
    if (options.ranks != 0 && options.ranks != placement.world_size) {
      return fail(kWrongUse,
                  fmt::format("--ranks {}: this job was launched with WORLD_SIZE={}; leave --ranks out",
                              options.ranks, placement.world_size));
    }
    const Status status = settle(options, placement.world_size);
    return status.ok() ? be_rank(options, placement) : fail(kWrongUse, status.error().message);
  }
  const int ranks = options.ranks == 0 ? 1 : options.ranks;
  if (const Status status = settle(options, ranks); !status.ok())
    return fail(kWrongUse, status.error().message);
  if (ranks > 1) return launch(options, argc, argv);
  // A tool that attaches learns from the environment which rank this is, as it does under a launcher.
  setenv("RANK", "0", 1);
  setenv("WORLD_SIZE", "1", 1);
  return be_rank(options, Placement{});
}

}  // namespace
}  // namespace lockstep::trainer

int main(int argc, char** argv) {
  lockstep::hold_closed_streams();
  std::set_terminate(lockstep::trainer::end_with_words);
  try {
    return lockstep::trainer::run(argc, argv);
  } catch (const std::exception& error) {
    return lockstep::trainer::fail(lockstep::trainer::kTrainingFailed, error.what());
  }
}

// `lockstep`: records, and starts the programs beside it for all else. It links as little as recording needs,
// for the recorder has to start where there is hardly any memory.
#include <array>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "base/standard_streams.h"
#include "cli/common/exit_codes.h"
#include "cli/common/verbs.h"
#include "cli/recording/verbs.h"
#include "cli/sibling.h"

namespace lockstep::cli {
namespace {

constexpr auto kVerbs = std::to_array<Verb>({
    {"record", "Run a command and record every process of it", run_record},
    {"collect", "Join runs that were recorded on several hosts' disks into one", run_collect},
#define LOCKSTEP_ANALYSIS_VERB(name, summary) {#name, summary, run_analysis_verb},
#include "cli/common/analysis_verbs.def"
    {"view", "Look at a run on a timeline", run_view},
    {"doctor", "Say what can be recorded on this machine, and what to do about the rest", run_doctor},
    {"train", "Train the reference transformer on several ranks, to have something to record", run_train},
});

constexpr Program kProgram{
    .name = "lockstep",
    .about = "lockstep finds out why the ranks of a distributed training job wait.",
    .verbs = kVerbs,
    .examples =
        "  lockstep record -o run -- torchrun --nproc-per-node 8 train.py\n"
        "  lockstep analyze run\n"
        "  lockstep view run\n"
        "  lockstep export run --format perfetto -o run.pftrace     then open it in ui.perfetto.dev\n",
};

}  // namespace
}  // namespace lockstep::cli

int main(int argc, char** argv) {
  lockstep::hold_closed_streams();
  // Recording sees to its signals itself: the command is to have them as it would without it.
  if (argc < 2 || std::string_view(argv[1]) != "record") lockstep::fail_at_file_size_limit();
  // No library throws; this is for memory running out and for what a library underneath may throw after all.
  try {
    return lockstep::cli::run_program(lockstep::cli::kProgram, argc, argv);
  } catch (const std::bad_alloc&) {
    lockstep::tell("lockstep: out of memory\n");
  } catch (const std::exception& error) {
    lockstep::tell(std::string("lockstep: unexpected error: ") + error.what() + "\n");
  }
  return lockstep::cli::failure_of(argc > 1 ? argv[1] : "");
}

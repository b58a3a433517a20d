// `lockstep-analyze`: all that reads runs. `lockstep` starts it for these verbs; it is whole without it,
// which is what a pipeline installs that judges runs and records none.
#include <array>
#include <exception>
#include <new>
#include <string>

#include "base/standard_streams.h"
#include "cli/analysis/memory_limit/memory_limit.h"
#include "cli/analysis/verbs.h"
#include "cli/common/exit_codes.h"
#include "cli/common/verbs.h"

namespace lockstep::cli {
namespace {

constexpr auto kVerbs = std::to_array<Verb>({
#define LOCKSTEP_ANALYSIS_VERB(name, summary) {#name, summary, run_##name},
#include "cli/common/analysis_verbs.def"
});

constexpr Program kProgram{
    .name = "lockstep-analyze",
    .about = "lockstep-analyze is the part of lockstep that reads runs and says what is in them.",
    .verbs = kVerbs,
    .examples =
        "  lockstep-analyze analyze run\n"
        "  lockstep-analyze check run1 run2 run3 --baseline main.json\n",
};

int run(int argc, char** argv) {
  const int code = run_program(kProgram, argc, argv);
  if (const std::string exceeded = limit_exceeded(); !exceeded.empty())
    tell("lockstep " + std::string(argv[1]) + ": warning: " + exceeded + "\n");
  return code;
}

}  // namespace
}  // namespace lockstep::cli

int main(int argc, char** argv) {
  lockstep::hold_closed_streams();
  lockstep::fail_at_file_size_limit();
  // No library throws; this is for memory running out and for what a library underneath may throw after all.
  try {
    return lockstep::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    lockstep::tell("lockstep: " + lockstep::cli::why_out_of_memory() + "\n");
  } catch (const std::exception& error) {
    lockstep::tell(std::string("lockstep: unexpected error: ") + error.what() + "\n");
  }
  return lockstep::cli::failure_of(argc > 1 ? argv[1] : "");
}

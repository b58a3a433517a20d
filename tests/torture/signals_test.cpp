// Signals to the recorder at random moments: the job decides what comes of them, as if it were alone.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <chrono>
#include <fstream>
#include <thread>

#include "tests/end_to_end/background_run.h"
#include "tests/end_to_end/recorded_run.h"
#include "tests/torture/trials.h"

namespace lockstep::torture {
namespace {

constexpr int kFew = 12;
constexpr std::array kSignals{SIGHUP,  SIGINT,  SIGQUIT,  SIGTERM, SIGUSR1, SIGUSR2,
                              SIGALRM, SIGPIPE, SIGWINCH, SIGCONT, SIGCHLD, SIGXFSZ};

// It takes no signal's offer to end. "armed": from now on.
constexpr const char* kJob =
    "trap 'got=1' HUP INT QUIT TERM USR1 USR2 ALRM PIPE XFSZ\n"
    "echo armed\n"
    "i=0; while [ $i -lt 12 ]; do sleep 0.03; i=$((i+1)); done\n"
    "echo out; exit 5\n";

TEST(Signals, ToTheRecorderChangeNothingThatTheJobDoesNotWant) {
  int before_the_job = 0;
  for (int trial = 0; trial < trials(kFew); ++trial) {
    std::mt19937_64 random = random_of("signals", trial);
    const int signal = kSignals[static_cast<std::size_t>(trial) % kSignals.size()];
    const std::int64_t after = between(random, 0, 500);
    SCOPED_TRACE(fmt::format("trial {}: signal {} after {} ms", trial, signal, after));
    const end_to_end::TemporaryFolder folder;
    std::ofstream(folder / "job.sh") << kJob;
    end_to_end::BackgroundRun run(
        folder, end_to_end::record_command(folder / "run", {"--quiet"}, {"/bin/sh", folder / "job.sh"}), {});
    std::this_thread::sleep_for(std::chrono::milliseconds(after));
    kill(run.process(), signal);
    const end_to_end::Outcome outcome = run.finish();
    // Whoever is hit before it has said what to do with signals ends by them, alone or recorded.
    if (outcome.standard_output.empty()) {
      EXPECT_TRUE(outcome.signal == signal || outcome.exit_code == 128 + signal)
          << outcome.exit_code << ", signal " << outcome.signal << ": " << outcome.standard_error;
      ++before_the_job;
      continue;
    }
    EXPECT_EQ(outcome.exit_code, 5) << "signal " << outcome.signal << ": " << outcome.standard_error;
    EXPECT_EQ(outcome.standard_output, "armed\nout\n");
    EXPECT_EQ(outcome.standard_error, "");
  }
  report("signals to the recorder", trials(kFew),
         fmt::format("{} came before the job could take them", before_the_job));
}

}  // namespace
}  // namespace lockstep::torture

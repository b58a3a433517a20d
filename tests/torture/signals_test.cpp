// Signals to the recorder at random moments, in a third of the trials two of them: the job decides what comes
// of them, as if it were alone, and what it recorded is there.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/end_to_end/background_run.h"
#include "tests/end_to_end/recorded_run.h"
#include "tests/torture/trials.h"
#include "trace/reader.h"

namespace lockstep::torture {
namespace {

constexpr int kFew = 12;
constexpr std::array kSignals{SIGHUP,  SIGINT,  SIGQUIT,  SIGTERM, SIGUSR1, SIGUSR2,
                              SIGALRM, SIGPIPE, SIGWINCH, SIGCONT, SIGCHLD, SIGXFSZ};

// It takes no signal's offer to end. "armed": from now on. {0}: a program that records three ranges.
constexpr const char* kJob =
    "trap 'got=1' HUP INT QUIT TERM USR1 USR2 ALRM PIPE XFSZ\n"
    "echo armed\n"
    "RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 {0} leave 0\n"
    "i=0; while [ $i -lt 12 ]; do sleep 0.03; i=$((i+1)); done\n"
    "echo out; exit 5\n";

struct Delivery {
  int signal = 0;
  std::int64_t after_ms = 0;  // since the recorder was started
};

// One of each signal after the other; in every third trial two of any, of which each may be the first.
std::vector<Delivery> deliveries_of(int trial, std::mt19937_64& random) {
  if (trial % 3 != 2)
    return {{kSignals[static_cast<std::size_t>(trial) % kSignals.size()], between(random, 0, 500)}};
  std::vector<Delivery> both;
  for (int i = 0; i < 2; ++i) {
    const auto which = static_cast<std::size_t>(between(random, 0, kSignals.size() - 1));
    both.push_back({kSignals[which], between(random, 0, 500)});
  }
  std::sort(both.begin(), both.end(),
            [](const Delivery& a, const Delivery& b) { return a.after_ms < b.after_ms; });
  return both;
}

std::string in_words(const std::vector<Delivery>& deliveries) {
  std::string text;
  for (const Delivery& delivery : deliveries)
    text += fmt::format(" signal {} after {} ms", delivery.signal, delivery.after_ms);
  return text;
}

void expect_recorded(const std::string& run, bool whole) {
  const end_to_end::Outcome analysis =
      end_to_end::run({end_to_end::binary("lockstep"), "analyze", run, "--json", "-"});
  EXPECT_TRUE(analysis.exit_code == 0 || (!whole && analysis.exit_code == 1))
      << analysis.exit_code << ", signal " << analysis.signal << ": " << analysis.standard_error;
  if (!whole) return;
  const Result<trace::Reader> reader = trace::Reader::open(run + "/rank-0.lst");
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  EXPECT_TRUE(reader.value().complete());
  EXPECT_TRUE(reader.value().verify().ok());
  EXPECT_EQ(reader.value().count(trace::EventKind::host_range), 3U);
}

TEST(Signals, ToTheRecorderChangeNothingThatTheJobDoesNotWant) {
  int before_the_job = 0, twice = 0;
  for (int trial = 0; trial < trials(kFew); ++trial) {
    std::mt19937_64 random = random_of("signals", trial);
    const std::vector<Delivery> deliveries = deliveries_of(trial, random);
    SCOPED_TRACE(fmt::format("trial {}:{}", trial, in_words(deliveries)));
    if (deliveries.size() > 1) ++twice;
    const end_to_end::TemporaryFolder folder;
    std::ofstream(folder / "job.sh") << fmt::format(fmt::runtime(kJob),
                                                    end_to_end::program("nvtx_behaviours"));
    end_to_end::BackgroundRun run(
        folder, end_to_end::record_command(folder / "run", {"--quiet"}, {"/bin/sh", folder / "job.sh"}),
        end_to_end::sanitizers_aside());
    const auto begin = std::chrono::steady_clock::now();
    for (const Delivery& delivery : deliveries) {
      std::this_thread::sleep_until(begin + std::chrono::milliseconds(delivery.after_ms));
      kill(run.process(), delivery.signal);
    }
    const end_to_end::Outcome outcome = run.finish();
    // Whoever is hit before it has said what to do with signals ends by them, alone or recorded.
    if (outcome.standard_output.empty()) {
      EXPECT_TRUE(std::any_of(deliveries.begin(), deliveries.end(),
                              [&](const Delivery& delivery) {
                                return outcome.signal == delivery.signal ||
                                       outcome.exit_code == 128 + delivery.signal;
                              }))
          << outcome.exit_code << ", signal " << outcome.signal << ": " << outcome.standard_error;
      if (std::filesystem::exists(folder / "run")) expect_recorded(folder / "run", false);
      ++before_the_job;
      continue;
    }
    EXPECT_EQ(outcome.exit_code, 5) << "signal " << outcome.signal << ": " << outcome.standard_error;
    EXPECT_EQ(outcome.standard_output, "armed\nout\n");
    EXPECT_EQ(outcome.standard_error, "");
    expect_recorded(folder / "run", true);
  }
  report("signals to the recorder", trials(kFew),
         fmt::format("{} came before the job could take them, {} were two", before_the_job, twice));
}

}  // namespace
}  // namespace lockstep::torture

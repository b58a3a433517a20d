// A recorded training job of which one rank is killed with kill -9: the job's exit code stays the job's, and
// what every rank did until then can be read and analyzed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "reference_trainer/tests/tried_modes.h"
#include "tests/end_to_end/recorded_run.h"

namespace lockstep {
namespace {

using end_to_end::binary;
using end_to_end::RecordedRun;
using nlohmann::json;
using testing::HasSubstr;

constexpr int kRanks = 3;
constexpr int kKilled = 1;

std::string file_of(int rank) {
  return "rank-" + std::to_string(rank) + ".lst";
}

class KilledRank : public testing::TestWithParam<trainer::TriedMode> {
 protected:
  // The process of the rank that is to be killed, once the files of all ranks hold two whole steps; −1 where
  // the job ends before that.
  static pid_t await_steps_on_disk(const RecordedRun& run, const std::future<void>& job) {
    while (job.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
      pid_t process = -1;
      int ready = 0;
      for (int rank = 0; rank < kRanks; ++rank) {
        const Result<trace::Reader> reader = trace::Reader::open(run.run_path() + "/" + file_of(rank));
        if (!reader.ok() || reader.value().count(trace::EventKind::step) < 2) break;
        if (rank == kKilled) process = std::stoi(reader.value().metadata().at("process"));
        ++ready;
      }
      if (ready == kRanks) return process;
    }
    return -1;
  }
};

TEST_P(KilledRank, LeavesATraceOfEveryRankThatCanBeAnalyzed) {
  RecordedRun run;
  std::vector<std::string> command{binary("lockstep"), "train",
                                   "--mode",           GetParam().name,
                                   "--ranks",          std::to_string(kRanks),
                                   "--layers",         "3",
                                   "--hidden",         "16",
                                   "--heads",          "1",
                                   "--steps",          "1000000"};
  command.insert(command.end(), GetParam().flags.begin(), GetParam().flags.end());
  std::future<void> job = std::async(std::launch::async, [&] { end_to_end::record(run, command); });
  const pid_t process = await_steps_on_disk(run, job);
  ASSERT_GT(process, 0) << run.outcome.standard_error;
  kill(process, SIGKILL);
  job.get();

  EXPECT_EQ(run.outcome.exit_code, 128 + SIGKILL);
  EXPECT_THAT(run.outcome.standard_error, HasSubstr("rank 1 was killed by signal 9 (SIGKILL)"));
  EXPECT_EQ(run.manifest().at("exit_code"), 128 + SIGKILL);
  for (int rank = 0; rank < kRanks; ++rank) {
    const trace::Reader reader = run.open(file_of(rank));
    EXPECT_TRUE(reader.verify().ok()) << "rank " << rank;
    EXPECT_GE(reader.count(trace::EventKind::step), 2u) << "rank " << rank;
    EXPECT_GT(reader.count(trace::EventKind::collective) + reader.count(trace::EventKind::device_activity),
              0u);
  }
  EXPECT_FALSE(run.open(file_of(kKilled)).complete());

  const std::string report_path = run.folder / "report.json";
  const auto analysis =
      end_to_end::run({binary("lockstep"), "analyze", run.run_path(), "--json", report_path});
  ASSERT_EQ(analysis.exit_code, 0) << analysis.standard_error;
  const json report = json::parse(std::ifstream(report_path));
  EXPECT_EQ(report.at("run").at("ranks_present"), json({0, 1, 2}));
  EXPECT_EQ(report.at("run").at("world_size"), kRanks);
  EXPECT_GE(report.at("steps").size(), std::size_t{2 * kRanks});
  EXPECT_FALSE(report.at("collectives").empty());
  bool said = false;
  for (const json& warning : report.at("warnings"))
    said = said || (warning.at("code") == "file_damaged" && warning.at("rank") == kKilled);
  EXPECT_TRUE(said) << report.at("warnings");
}

std::vector<trainer::TriedMode> modes() {
  std::vector<trainer::TriedMode> modes = trainer::tried_modes();
  std::erase_if(modes, [](const trainer::TriedMode& mode) { return !mode.killed_while_recorded; });
  return modes;
}

INSTANTIATE_TEST_SUITE_P(Modes, KilledRank, testing::ValuesIn(modes()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace lockstep

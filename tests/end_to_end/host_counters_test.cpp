// `lockstep record --cpu`: the counters of a process against what the kernel says that it used, and those of
// GPUs against a stand-in that speaks NVML.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "tests/end_to_end/recorded_run.h"

namespace lockstep {
namespace {

using end_to_end::program;
using end_to_end::record;
using end_to_end::RecordedRun;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::Not;

using Points = std::vector<trace::Counter>;

const std::string kNvml = std::string("LOCKSTEP_NVML=") + LOCKSTEP_STAND_INS_DIR + "/libnvidia-ml.so.1";

std::map<std::string, Points> counters(const trace::Reader& reader) {
  Points all;
  EXPECT_TRUE(reader.read(trace::Selection{}, all).ok());
  std::map<std::string, Points> by_name;
  for (const trace::Counter& point : all) by_name[reader.lanes()[point.lane].name].push_back(point);
  return by_name;
}

// What a rate adds up to: a point's value holds since the point before.
double sum(const Points& points) {
  double total = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    total += points[i].value * static_cast<double>(points[i].time - points[i - 1].time) * 1e-9;
  }
  return total;
}

std::vector<double> values(const Points& points) {
  std::vector<double> result;
  for (const trace::Counter& point : points) result.push_back(point.value);
  return result;
}

// "begin user_us 12 …" as numbers by "begin user_us".
std::map<std::string, double> parse_usage(const std::string& text) {
  std::map<std::string, double> usage;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string when, key;
    double value = 0;
    for (words >> when; words >> key >> value;) usage[when + " " + key] = value;
  }
  return usage;
}

TEST(HostCounters, AddUpToWhatTheKernelSays) {
  RecordedRun run;
  record(run, {program("host_load"), "400", "32", "50"}, {}, {"--cpu"});
  ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.standard_error;
  const std::map<std::string, double> usage = parse_usage(run.outcome.standard_output);
  const trace::Reader reader = run.open();
  EXPECT_TRUE(reader.complete());
  EXPECT_EQ(reader.metadata().at("source.cpu"), "recording");
  const std::map<std::string, Points> recorded = counters(reader);
  struct Row {
    const char* counter;
    const char* key;
    double scale;      // of the kernel's number
    double tolerance;  // of rounding
  };
  for (const Row& row :
       {Row{"cpu user (cores)", "user_us", 1e-6, 1e-6}, Row{"cpu system (cores)", "system_us", 1e-6, 1e-6},
        Row{"page faults minor (per s)", "minor", 1, 1e-3},
        Row{"page faults major (per s)", "major", 1, 1e-3},
        Row{"context switches voluntary (per s)", "voluntary", 1, 1e-3},
        Row{"context switches involuntary (per s)", "involuntary", 1, 1e-3}}) {
    ASSERT_TRUE(recorded.contains(row.counter)) << row.counter;
    const auto at = [&](const char* when) { return usage.at(std::string(when) + " " + row.key) * row.scale; };
    const double total = sum(recorded.at(row.counter));
    // Watched before its load began and after it ended, by no more than it used altogether.
    EXPECT_GE(total, at("end") - at("begin") - row.tolerance) << row.counter;
    EXPECT_LE(total, at("all") + row.tolerance) << row.counter;
  }
  EXPECT_GE(sum(recorded.at("page faults minor (per s)")), 32 * 256);
  EXPECT_GE(sum(recorded.at("context switches voluntary (per s)")), 50);
  EXPECT_GE(sum(recorded.at("cpu user (cores)")) + sum(recorded.at("cpu system (cores)")), 0.4 - 1e-4);
  EXPECT_THAT(values(recorded.at("memory resident (bytes)")), Each(Ge(1e6)));
  EXPECT_GE(recorded.at("memory resident (bytes)").back().value, 32.0 * (1 << 20));
  // A wait is counted when it is over: a point may hold more than the time since the one before.
  const Points& waiting = recorded.at("main thread run-queue delay (share)");
  EXPECT_THAT(values(waiting), Each(Ge(0.0)));
  EXPECT_GE(sum(waiting), (usage.at("end waiting_ns") - usage.at("begin waiting_ns")) * 1e-9 - 1e-6);
}

TEST(HostCounters, OfTheMainThreadsWaitAreThoseOfAllThreadsAtLeastAbout) {
  RecordedRun run;
  record(run, {program("host_load"), "300", "1", "0"}, {}, {"--cpu"});
  const std::map<std::string, Points> recorded = counters(run.open());
  // The two are read one after the other: what the main thread waits in between is in one of them only.
  EXPECT_GE(sum(recorded.at("run-queue delay of all threads (threads)")),
            sum(recorded.at("main thread run-queue delay (share)")) * 0.5 - 0.05);
  EXPECT_TRUE(recorded.contains("main thread on processor"));
}

TEST(HostCounters, AreRecordedOnRequestOnly) {
  RecordedRun run;
  record(run, end_to_end::behave({"leave", "0"}), {"LOCKSTEP_CPU=0"});
  EXPECT_EQ(run.open().metadata().count("source.cpu"), 0U);
  EXPECT_EQ(run.open().count(trace::EventKind::counter), 0U);
}

// What would begin the file with its first event is left out.
TEST(HostCounters, AreRecordedThoughNothingElseIs) {
  for (const char* sources : {"cpu", "cpu,cupti"}) {
    RecordedRun run;
    record(run, {program("host_load"), "1", "1", "0"}, {"RANK=0", "WORLD_SIZE=1"}, {"--sources", sources});
    EXPECT_EQ(run.outcome.exit_code, 0);
    const trace::Reader reader = run.open("rank-0.lst");
    EXPECT_TRUE(reader.complete());
    EXPECT_EQ(reader.metadata().at("source.cpu"), "recording");
    EXPECT_TRUE(counters(reader).contains("memory resident (bytes)"));
    EXPECT_THAT(end_to_end::range_names(reader), IsEmpty());
  }
  RecordedRun gpus;
  record(gpus, {program("host_load"), "1", "1", "0"}, {kNvml, "CUDA_VISIBLE_DEVICES=2"},
         {"--sources", "nvml"});
  const std::map<std::string, Points> recorded = counters(gpus.open());
  EXPECT_TRUE(recorded.contains("gpu 0 power (W)"));
  EXPECT_FALSE(recorded.contains("memory resident (bytes)"));
}

TEST(HostCounters, OfAProcessThatBringsNobodyInAreNot) {
  RecordedRun run;
  record(run, {"true"}, {}, {"--sources", "cpu"});
  EXPECT_THAT(run.files(), IsEmpty());
  EXPECT_THAT(run.outcome.standard_error,
              HasSubstr("nothing was recorded: no process of the command was seen to train"));
}

TEST(HostCounters, OfANodeAreToldByOneRank) {
  for (const char* rank : {"0", "1"}) {
    RecordedRun run;
    record(run, {program("host_load"), "1", "1", "0"},
           {std::string("RANK=") + rank, "WORLD_SIZE=2", std::string("LOCAL_RANK=") + rank}, {"--cpu"});
    bool has_network = false;
    for (const auto& [name, points] : counters(run.open())) has_network |= name.starts_with("network ");
    bool has_interface = false;
    for (const auto& entry : std::filesystem::directory_iterator("/sys/class/net")) {
      has_interface |=
          entry.path().filename() != "lo" && std::filesystem::exists(entry.path() / "statistics");
    }
    EXPECT_EQ(has_network, has_interface && std::string(rank) == "0");
  }
}

TEST(HostCounters, ARankFollowsItsOwnGpu) {
  RecordedRun run;
  record(run, {program("host_load"), "300", "1", "0"},
         {kNvml, "RANK=1", "WORLD_SIZE=2", "LOCAL_RANK=1", "CUDA_VISIBLE_DEVICES=3,2"}, {"--cpu"});
  ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.standard_error;
  const std::map<std::string, Points> recorded = counters(run.open());
  EXPECT_THAT(values(recorded.at("gpu 1 SM clock (MHz)")), Each(1902))
      << "the second that is visible is GPU 2";
  EXPECT_THAT(values(recorded.at("gpu 1 power (W)")), Each(252));
  EXPECT_THAT(values(recorded.at("gpu 1 temperature (°C)")), Each(62));
  EXPECT_THAT(values(recorded.at("gpu 1 throttled by hardware")), Each(1));
  EXPECT_THAT(values(recorded.at("gpu 1 throttled by heat")), Each(0));
  EXPECT_THAT(values(recorded.at("gpu 1 throttled by power")), Each(0));
  // The stand-in's counters grow by three and by one with every look.
  const double replays = sum(recorded.at("gpu 1 PCIe replays (per s)"));
  EXPECT_NEAR(replays, std::round(replays), 1e-6);
  EXPECT_GE(replays, 1);
  EXPECT_NEAR(sum(recorded.at("gpu 1 ECC errors corrected (per s)")), 3 * replays, 1e-6);
  EXPECT_EQ(recorded.count("gpu 0 power (W)"), 0U);
}

TEST(HostCounters, NvmlThatDoesNotStartIsSaidAndHarmless) {
  RecordedRun run;
  record(run, {program("host_load"), "50", "1", "0"}, {kNvml, "NVML_STAND_IN_ERROR=18"}, {"--cpu"});
  EXPECT_EQ(run.outcome.exit_code, 0);
  EXPECT_THAT(run.open().metadata().at("source.cpu.problem"), HasSubstr("NVML does not start (error 18)"));
  RecordedRun absent;
  record(absent, {program("host_load"), "50", "1", "0"}, {"LOCKSTEP_NVML=/no/such/library.so"}, {"--cpu"});
  EXPECT_EQ(absent.outcome.exit_code, 0);
  EXPECT_THAT(absent.open().metadata().at("source.cpu.problem"), HasSubstr("does not load"));
}

// --- the ways in which processes end and split, with the sampling thread in them ---

class HostCountersBehaviour : public testing::TestWithParam<std::vector<std::string>> {};
TEST_P(HostCountersBehaviour, JobIsUntouched) {
  RecordedRun plain;
  record(plain, end_to_end::behave(GetParam()));
  RecordedRun watched;
  record(watched, end_to_end::behave(GetParam()), {kNvml}, {"--cpu"});
  EXPECT_EQ(watched.outcome.exit_code, plain.outcome.exit_code);
  EXPECT_EQ(watched.outcome.signal, plain.outcome.signal);
  EXPECT_EQ(watched.outcome.standard_output, plain.outcome.standard_output);
  // What a process leaves that ends by _exit, abort or exec within its first milliseconds is a matter of
  // luck.
  const std::set<std::string> sudden{"quick", "abort", "exec"};
  EXPECT_TRUE(sudden.contains(GetParam()[0]) || watched.files().size() == plain.files().size());
}
INSTANTIATE_TEST_SUITE_P(
    Programs, HostCountersBehaviour,
    testing::Values(std::vector<std::string>{"leave", "7"}, std::vector<std::string>{"quick", "11"},
                    std::vector<std::string>{"crash"}, std::vector<std::string>{"abort"},
                    std::vector<std::string>{"fork", "3"}, std::vector<std::string>{"exec", "2"},
                    std::vector<std::string>{"exit_in_thread"},
                    std::vector<std::string>{"threads", "8", "1000"}, std::vector<std::string>{"change_user"},
                    std::vector<std::string>{"register_only"}));

}  // namespace
}  // namespace lockstep

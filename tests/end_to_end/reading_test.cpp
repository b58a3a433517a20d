// How the command reads files where they do not say all: --communication names kernels that communicate,
// --cycle one of a worker's profiles. In `lockstep.report/2`.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/end_to_end/support.h"

namespace lockstep::end_to_end {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Outcome analyze(const std::string& path, std::vector<std::string> options = {}) {
  options.insert(options.begin(), {binary("lockstep"), "analyze", path, "--json", "-"});
  return run(options);
}
json report_of(const std::string& path, const std::vector<std::string>& options = {}) {
  const Outcome outcome = analyze(path, options);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  return json::parse(outcome.standard_output, nullptr, false);
}

// One step of two ranks: each computes and then runs the kernel "my_ring" of its own until 2000 µs. Rank 1
// comes 300 µs later. `begin_us` is added to all times.
void write_step(const TemporaryFolder& folder, int step, int begin_us) {
  for (const int rank : {0, 1}) {
    const int arrival = rank == 0 ? 1200 : 1500;
    folder.write(
        fmt::format("worker{}.{}.pt.trace.json", rank, step),
        fmt::format(
            R"({{"schemaVersion": 1, "distributedInfo": {{"rank": {}, "world_size": 2}}, "traceEvents": [
{{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{}", "pid": 10, "tid": 10, "ts": {}, "dur": 1150}},
{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": 10, "ts": {}, "dur": 10, "args": {{"correlation": 1}}}},
{{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": {}, "dur": {}, "args": {{"device": 0, "stream": 7, "correlation": 1}}}},
{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": 10, "ts": {}, "dur": 10, "args": {{"correlation": 2}}}},
{{"ph": "X", "cat": "kernel", "name": "my_ring<float>", "pid": 0, "tid": 20, "ts": {}, "dur": {}, "args": {{"device": 0, "stream": 20, "correlation": 2}}}}]}})",
            rank, step, begin_us + 900, begin_us + 950, begin_us + 1000, arrival - 1000, begin_us + 980,
            begin_us + arrival, 2000 - arrival));
  }
}

TEST(Communication, OfAKernelOfOnesOwnIsSeenWhereItIsSaid) {
  const TemporaryFolder folder;
  write_step(folder, 3, 0);
  const std::string path = folder.path().string();
  const json plain = report_of(path);
  EXPECT_EQ(plain["collectives"], json::array());
  EXPECT_EQ(plain["ranks"][0]["communication_ns"], 0);
  EXPECT_EQ(plain["ranks"][0]["activities"]["compute"], 2);

  const std::string patterns = folder.write("patterns/ours", "# kernels of ours\n\nmy_ring=all_reduce\n");
  for (const std::string& said : {std::string("my_ring=all_reduce"), "@" + patterns}) {
    const json report = report_of(path, {"--communication", said});
    ASSERT_EQ(report["collectives"].size(), 1U) << said;
    const json& collective = report["collectives"][0];
    EXPECT_EQ(collective["operation"], "all_reduce") << said;
    ASSERT_EQ(collective["ranks"].size(), 2U) << said;
    EXPECT_EQ(collective["ranks"][0]["wait_ns"], 300'000) << said;
    EXPECT_EQ(collective["ranks"][1]["wait_ns"], 0) << said;
    EXPECT_EQ(collective["last_arriver"], 1) << said;
    EXPECT_EQ(report["ranks"][0]["activities"]["compute"], 1) << said;
    EXPECT_EQ(report["ranks"][0]["activities"]["collective"], 1) << said;
  }
}

TEST(Communication, ThatIsNoneIsRefused) {
  const TemporaryFolder folder;
  write_step(folder, 3, 0);
  const Outcome outcome = analyze(folder.path().string(), {"--communication", "my_ring=sum_up"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.standard_error,
              HasSubstr("--communication 'my_ring=sum_up': 'sum_up' is no operation"));
}

TEST(Cycle, OfAWorkersProfilesIsChosen) {
  const TemporaryFolder folder;
  write_step(folder, 3, 0);
  write_step(folder, 7, 10'000);
  const std::string path = folder.path().string();
  EXPECT_EQ(report_of(path)["run"]["steps"], json::array({3, 7}));
  EXPECT_EQ(report_of(path, {"--cycle", "1"})["run"]["steps"], json::array({3}));
  const json second = report_of(path, {"--cycle", "2"});
  EXPECT_EQ(second["run"]["steps"], json::array({7}));
  EXPECT_EQ(second["run"]["ranks_present"], json::array({0, 1}));
  EXPECT_EQ(second["ranks"][0]["activities"]["compute"], 2) << "of the second profile alone";

  const Outcome outcome = analyze(path, {"--cycle", "3"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.standard_error, HasSubstr("--cycle 3: there are 2 cycles"));
  EXPECT_EQ(analyze(path, {"--cycle", "0"}).exit_code, 2);
}

}  // namespace
}  // namespace lockstep::end_to_end

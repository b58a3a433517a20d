// From files to the finding: traces of two ranks and what NCCL logged of them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/open_job.h"
#include "analyzer/test_analysis.h"
#include "tests/temporary_folder.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::Not;

// Ten times 500 µs of computation and 200 µs of all-reduce that nothing hides, as torch.profiler writes them.
std::string kineto(int rank) {
  std::string events;
  for (int step = 0; step < 10; ++step) {
    events += fmt::format(
        R"({{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": {}, "dur": 500,
             "args": {{"device": 0, "stream": 7}}}},
           {{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "pid": 0, "tid": 8,
             "ts": {}, "dur": 200, "args": {{"device": 0, "stream": 8, "Collective name": "allreduce",
             "In msg nelems": 1024, "Out msg nelems": 1024, "dtype": "Float", "Group size": 2,
             "Process Group Name": "0", "Process Group Ranks": "[0, 1]"}}}},)",
        step * 1000, step * 1000 + 500);
  }
  events.pop_back();
  return fmt::format(R"({{"distributedInfo": {{"rank": {}, "world_size": 2}}, "traceEvents": [{}]}})", rank,
                     events);
}

// NCCL 2.21, a file a process.
std::string log_of(int rank, const char* connection) {
  const std::string speaker = fmt::format("node0:{}:{} [{}] NCCL INFO ", 100 + rank, 200 + rank, rank);
  const std::string communicator = fmt::format(
      "{}ncclCommInitRank comm 0x1 rank {} nranks 2 cudaDev {} nvmlDev {} busId 1000 commId 0xa - Init ",
      speaker, rank, rank, rank);
  std::string log = communicator + "START\n";
  for (const int channel : {0, 1})
    log += fmt::format("{}Channel {:02}/0 : {}[{}] -> {}[{}] via {}\n", speaker, channel, rank, rank,
                       1 - rank, 1 - rank, connection);
  return log + communicator + "COMPLETE\n";
}

class LoggedWays : public testing::Test {
 protected:
  LoggedWays() {
    for (const int rank : {0, 1}) folder_.write(fmt::format("rank{}.json", rank), kineto(rank));
  }
  void log(const char* connection) {
    for (const int rank : {0, 1})
      folder_.write(fmt::format("nccl.node0.{}.log", 100 + rank), log_of(rank, connection));
  }
  Report report() const {
    Result<Job> job = open_job({folder_.path().string()});
    if (!job.ok()) ADD_FAILURE() << job.error().message;
    if (!job.ok()) return {};
    return checked_analysis(job.value()).report;
  }
  static std::vector<std::string> codes(const Report& report) {
    std::vector<std::string> codes;
    for (const Finding& finding : report.findings) codes.push_back(finding.code);
    return codes;
  }

  test::TemporaryFolder folder_;
};

TEST_F(LoggedWays, ThroughTheHostsMemory) {
  log("SHM/direct/direct");
  const Report report = this->report();
  ASSERT_THAT(codes(report), Contains("p2p_host_staged"));
  for (const Finding& finding : report.findings) {
    if (finding.code != "p2p_host_staged") continue;
    EXPECT_EQ(finding.lost_ns, 10 * 2 * 200'000);
    EXPECT_EQ(finding.evidence.at(1),
              "the log says: rank 0 to rank 1, 2 channels via SHM/direct/direct (nccl.node0.100.log)");
  }
}

TEST_F(LoggedWays, FromGpuToGpu) {
  log("P2P/CUMEM");
  EXPECT_THAT(codes(report()), Not(Contains("p2p_host_staged")));
}

TEST_F(LoggedWays, NobodyKnows) {
  EXPECT_THAT(codes(report()), Not(Contains("p2p_host_staged")));
}

}  // namespace
}  // namespace lockstep::analyzer

// Kernels as CUPTI tells of them and issues as NCCL does, in one file: who belongs to whom.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "analyzer/import/rank/merge.h"
#include "analyzer/import/run/run.h"
#include "analyzer/import/test_files.h"
#include "analyzer/match/match.h"
#include "analyzer/model/check_job.h"
#include "trace/writer.h"

namespace lockstep::analyzer::run {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using trace::CollectiveIssue;
using trace::LaneKind;
using trace::Writer;

constexpr std::uint64_t kProcess = 77;

// One rank's file. A thread has one lane, whichever source tells of it (tracer/inject/core/host_lanes.h).
class RankFile {
 public:
  RankFile(const TemporaryFolder& folder, int rank, int ranks, int rank_within, int size)
      : path_(folder / ("rank-" + std::to_string(rank) + ".lst")),
        writer_(must(Writer::create(path_.c_str()))) {
    writer_.set_metadata("rank", std::to_string(rank));
    writer_.set_metadata("world_size", std::to_string(ranks));
    writer_.set_metadata("host", "node7");
    thread_ = writer_.add_lane({LaneKind::host_thread, kProcess, 1, 0, "main"});
    stream_ = writer_.add_lane({LaneKind::device_stream, kProcess, 20, 0, "stream 20"});
    group_ = writer_.add_group({"nccl 0x12", "dp", {}, rank_within, size});
  }

  void issue(Nanoseconds begin, Nanoseconds end, Operation operation, std::int64_t sequence,
             std::uint64_t bytes, trace::CorrelationId batch, std::int32_t peer = kNoRank,
             const char* name = "nccl") {
    CollectiveIssue event;
    event.lane = thread_;
    event.begin = begin;
    event.end = end;
    event.name = writer_.intern(name);
    event.group = group_;
    event.operation = operation;
    event.sequence = sequence;
    event.bytes = bytes;
    event.data_type = DataType::bfloat16;
    event.peer = peer;
    event.correlation = batch;
    writer_.append(event);
  }
  // What PyTorch says of its call.
  void framework_issue(Nanoseconds begin, Nanoseconds end, Operation operation, std::int64_t sequence,
                       std::uint64_t bytes) {
    issue(begin, end, operation, sequence, bytes, trace::kNoCorrelation, kNoRank, "c10d.all_reduce");
  }
  // A kernel that is launched from `launch` to `launch` + 2 and runs 100 ns from `begin` on.
  void kernel(Nanoseconds launch, Nanoseconds begin, const char* name) {
    ++correlation_;
    writer_.append(
        trace::ApiCall{thread_, launch, launch + 2, writer_.intern("cuLaunchKernelEx"), correlation_});
    trace::DeviceActivity event;
    event.lane = stream_;
    event.begin = begin;
    event.end = begin + 100;
    event.name = writer_.intern(name);
    event.activity_class = trace::ActivityClass::collective;
    event.correlation = correlation_;
    writer_.append(event);
  }
  RankImport import() {
    EXPECT_TRUE(writer_.close().ok());
    return must(import_file(path_));
  }

 private:
  std::string path_;
  Writer writer_;
  trace::LaneId thread_ = 0, stream_ = 0;
  trace::GroupId group_ = 0;
  trace::CorrelationId correlation_ = 0;
};

constexpr const char* kAllReduce =
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
constexpr const char* kAllGather = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
constexpr const char* kSendRecv = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";

std::string words(const Communication& communication) {
  return std::string(to_string(communication.operation)) + " #" + std::to_string(communication.sequence) +
         " " + std::to_string(communication.bytes) + " B peer " + std::to_string(communication.peer) +
         (communication.has_metadata ? "" : " by name");
}

std::vector<std::string> words(const std::function<void(RankFile&)>& fill, int size = 4) {
  const TemporaryFolder folder;
  RankFile file(folder, 0, size, 0, size);
  fill(file);
  std::vector<std::string> texts;
  for (const Communication& communication : file.import().trace.communications)
    texts.push_back(words(communication));
  return texts;
}

// A collective of UCC on a CPU that nobody waited for.
TEST(Issues, OfCollectivesWithoutAnEndTellThatTheRankCame) {
  const TemporaryFolder folder;
  RankFile file(folder, 0, 4, 0, 4);
  for (const std::int64_t sequence : {4, 6, 5})
    file.issue(10 * sequence, 10 * sequence + 1, Operation::all_reduce, sequence, 64, trace::kNoCorrelation,
               kNoRank, "c10d.end_unknown.all_reduce");
  const RankImport import = file.import();
  EXPECT_THAT(import.trace.communications, IsEmpty());
  ASSERT_EQ(import.trace.ending.progress.size(), 1U);
  EXPECT_EQ(import.trace.ending.progress[0].issued, 6);
  EXPECT_EQ(import.trace.ending.progress[0].ended, kNoSequence);
  for (const Warning& warning : import.warnings) EXPECT_NE(warning.code, "operations_without_intervals");
}

TEST(Issues, TheLaunchLiesInTheIssue) {
  EXPECT_THAT(words([](RankFile& file) {
                file.issue(100, 110, Operation::all_reduce, 0, 4000, 1);
                file.issue(200, 210, Operation::all_gather, 0, 800, 2);
                file.kernel(104, 1000, kAllReduce);
                file.kernel(205, 2000, kAllGather);
                file.kernel(300, 3000, kAllReduce);  // nobody told of it
              }),
              ElementsAre("all_reduce #0 4000 B peer -1", "all_gather #0 800 B peer -1",
                          "all_reduce #-1 -1 B peer -1 by name"));
}

TEST(Issues, SeveralOperationsOfOneKernelAreOne) {
  EXPECT_THAT(words([](RankFile& file) {
                file.issue(100, 110, Operation::all_reduce, 5, 4000, 1);
                file.issue(100, 110, Operation::all_reduce, 6, 1000, 1);
                file.kernel(104, 1000, kAllReduce);
              }),
              ElementsAre("all_reduce #5 5000 B peer -1"));
}

TEST(Issues, AfterTheLaunchAsBeforeVersion5) {
  EXPECT_THAT(
      words([](RankFile& file) {
        for (int i = 0; i < 3; ++i) {
          file.kernel(100 * i, 1000 * i, kAllReduce);
          file.issue(100 * i + 5, 100 * i + 8, Operation::all_reduce, i, 10U + i, 1U + i);
        }
      }),
      ElementsAre("all_reduce #0 10 B peer -1", "all_reduce #1 11 B peer -1", "all_reduce #2 12 B peer -1"));
}

// A group of calls as NVTX tells of it: three kernels in one range.
TEST(Issues, SeveralKernelsOfOneCallInOrderOfTheirKind) {
  EXPECT_THAT(
      words([](RankFile& file) {
        file.issue(100, 190, Operation::all_gather, 3, 800, 1);
        file.issue(100, 190, Operation::all_reduce, 7, 10, 1);
        file.issue(100, 190, Operation::all_reduce, 8, 20, 1);
        file.kernel(110, 1000, kAllReduce);
        file.kernel(120, 2000, kAllReduce);
        file.kernel(130, 3000, kAllGather);
      }),
      ElementsAre("all_reduce #7 10 B peer -1", "all_reduce #8 20 B peer -1", "all_gather #3 800 B peer -1"));
}

TEST(Issues, OneOperationOverSeveralKernelsIsNotCountedTwice) {
  EXPECT_THAT(words([](RankFile& file) {
                file.issue(100, 190, Operation::all_reduce, 7, 10, 1);
                file.kernel(110, 1000, kAllReduce);
                file.kernel(120, 2000, kAllReduce);
              }),
              ElementsAre("all_reduce #-1 -1 B peer -1", "all_reduce #-1 -1 B peer -1"));
}

TEST(Issues, SendsAndReceives) {
  EXPECT_THAT(words([](RankFile& file) {
                file.issue(100, 110, Operation::send, kNoSequence, 40, 1, 2);
                file.kernel(101, 1000, kSendRecv);
                file.issue(200, 210, Operation::send, kNoSequence, 40, 2, 3);
                file.issue(200, 210, Operation::recv, kNoSequence, 80, 2, 3);
                file.kernel(201, 2000, kSendRecv);
                file.issue(300, 310, Operation::send, kNoSequence, 40, 3, 1);
                file.issue(300, 310, Operation::recv, kNoSequence, 40, 3, 3);
                file.kernel(301, 3000, kSendRecv);
                for (int peer = 0; peer < 4; ++peer) {
                  file.issue(400, 410, Operation::send, kNoSequence, 8, 4, peer);
                  file.issue(400, 410, Operation::recv, kNoSequence, 8, 4, peer);
                }
                file.kernel(401, 4000, kSendRecv);
              }),
              ElementsAre("send #-1 40 B peer 2", "send_recv #-1 80 B peer 3", "send_recv #-1 40 B peer -1",
                          "all_to_all #-1 32 B peer -1"));
}

TEST(Issues, OfAnotherOperationAreNotTheKernels) {
  EXPECT_THAT(words([](RankFile& file) {
                file.issue(100, 110, Operation::all_gather, 0, 800, 1);
                file.kernel(104, 1000, kAllReduce);
              }),
              ElementsAre("all_reduce #-1 -1 B peer -1 by name"));
}

TEST(Issues, WithoutTheGpuAreCountedAndNoActivities) {
  const TemporaryFolder folder;
  RankFile file(folder, 0, 2, 0, 2);
  for (int i = 0; i < 3; ++i) file.issue(100 * i, 100 * i + 9, Operation::all_reduce, i, 4, 1U + i);
  const RankImport import = file.import();
  EXPECT_THAT(import.trace.activities, IsEmpty());
  ASSERT_EQ(import.warnings.size(), 1U);
  EXPECT_EQ(import.warnings[0].code, "operations_without_intervals");
  EXPECT_THAT(import.warnings[0].message, HasSubstr("3 operations were issued to a device"));
}

// Rank 5 is rank 0 of the communicator, rank 3 its rank 1, and so on.
TEST(Issues, OfAFrameworkServeWhereTheLibrarySaysNothing) {
  EXPECT_THAT(words([](RankFile& file) {
                file.framework_issue(100, 190, Operation::all_reduce, 7, 4000);
                file.kernel(110, 1000, kAllReduce);
                // Handed over together, launched after the last: nobody says which kernel is which.
                file.framework_issue(200, 210, Operation::all_reduce, 8, 10);
                file.framework_issue(220, 230, Operation::all_reduce, 9, 20);
                file.kernel(240, 2000, kAllReduce);
              }),
              ElementsAre("all_reduce #7 4000 B peer -1", "all_reduce #-1 -1 B peer -1 by name"));
}

TEST(Issues, OfTheLibraryGoBeforeTheFrameworks) {
  EXPECT_THAT(words([](RankFile& file) {
                file.framework_issue(100, 190, Operation::all_reduce, 7, 4000);
                file.issue(105, 180, Operation::all_reduce, 3, 4000, 1);
                file.kernel(110, 1000, kAllReduce);
                file.framework_issue(200, 290, Operation::all_reduce, 8, 4000);
                file.kernel(210, 2000, kAllReduce);  // the library's word of it was lost
              }),
              ElementsAre("all_reduce #3 4000 B peer -1", "all_reduce #-1 -1 B peer -1 by name"));
}

TEST(Issues, CommunicatorsGetTheirGlobalRanks) {
  const TemporaryFolder folder;
  const std::vector<int> global{2, 0, 1};  // by the rank within
  std::vector<RankImport> imports;
  for (int within = 0; within < 3; ++within) {
    RankFile file(folder, global[static_cast<std::size_t>(within)], 3, within, 3);
    for (int i = 0; i < 2; ++i) {
      file.issue(100 * i, 100 * i + 9, i == 0 ? Operation::all_reduce : Operation::broadcast, 0, 64, 1U + i,
                 i == 0 ? kNoRank : 1);
    }
    file.kernel(1, 1000, kAllReduce);
    file.kernel(101, 2000, "ncclDevKernel_Broadcast_RING_LL(x)");
    imports.push_back(file.import());
  }
  const Job job = must(merge_ranks("run", std::move(imports), {}, 3));
  EXPECT_TRUE(check_job(job).ok());
  ASSERT_EQ(job.groups.size(), 1U);
  EXPECT_THAT(job.groups[0].ranks, ElementsAre(0, 1, 2));
  EXPECT_EQ(job.groups[0].size, 3);
  for (const RankTrace& rank : job.ranks) EXPECT_EQ(rank.communications.at(1).peer, 0) << "rank 1 within";
  const Matching matching = match_communications(job);
  ASSERT_EQ(matching.matches.size(), 2U);
  for (const Match& match : matching.matches) {
    EXPECT_EQ(match.record_count, 3U);
    EXPECT_EQ(match.evidence, Evidence::function_sequence);  // both have the number 0
    EXPECT_FALSE(match.partial);
    EXPECT_EQ(match.bytes, 64);
  }
}

TEST(Issues, ACommunicatorOfWhichARankIsMissingHasNoRanksAndSaysSo) {
  const TemporaryFolder folder;
  std::vector<RankImport> imports;
  for (int rank = 0; rank < 2; ++rank) {
    RankFile file(folder, rank, 3, rank, 3);
    file.issue(100, 109, Operation::all_reduce, 0, 64, 1);
    file.kernel(101, 1000, kAllReduce);
    imports.push_back(file.import());
  }
  const Job job = must(merge_ranks("run", std::move(imports), {}, 3));
  ASSERT_EQ(job.groups.size(), 1U);
  EXPECT_THAT(job.groups[0].ranks, IsEmpty());
  EXPECT_EQ(job.groups[0].size, 3);
  EXPECT_THAT(job.warnings,
              testing::Contains(testing::Field(&Warning::message, HasSubstr("nccl 0x12 (2 of 3)"))));
  const Matching matching = match_communications(job);
  ASSERT_EQ(matching.matches.size(), 1U);
  EXPECT_EQ(matching.matches[0].record_count, 2U);
  EXPECT_TRUE(matching.matches[0].partial);
}

}  // namespace
}  // namespace lockstep::analyzer::run

// libnccl's NVTX ranges, as the NVTX source decodes them, become issues where no plugin tells of them.
#include "tracer/inject/sources/nccl/nvtx_issues.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tracer/inject/sources/nccl/stand_in/recorded.h"

namespace lockstep::tracer::nccl {
namespace {

using stand_in::all;
using trace::Operation;

class NvtxRanges : public testing::Test {
 protected:
  NvtxRanges()
      : writer_(std::move(trace::Writer::create((folder_.folder() + "/ranges.lst").c_str())).value()),
        lanes_(writer_, 1),
        batches_(writer_, lanes_, communicators_),
        ranges_(writer_, communicators_, batches_) {}

  using Field = std::pair<const char*, std::int64_t>;
  void range(std::uint32_t thread, const char* name, trace::Nanoseconds begin, trace::Nanoseconds end,
             std::vector<Field> fields = {}) {
    std::vector<trace::Argument> arguments;
    for (const auto& [key, value] : fields)
      arguments.push_back(
          {writer_.intern(key), trace::ArgumentType::int64, static_cast<std::uint64_t>(value)});
    trace::HostRange event;
    event.lane = lanes_.lane(thread);
    event.begin = begin;
    event.end = end;
    event.name = writer_.intern(name);
    ranges_.range(thread, event, arguments);
  }
  void drains(int count) {
    for (int i = 0; i < count; ++i) {
      batches_.end_drain(drain_);
      ranges_.end_drain(drain_++);
    }
  }
  trace::Reader finish() {
    ranges_.finish();
    EXPECT_TRUE(writer_.close().ok());
    return folder_.open("ranges.lst");
  }

  static constexpr const char* kComm = "NCCL communicator ID";
  static constexpr const char* kBytes = "Message size [bytes]";

  stand_in::Recorded folder_;
  trace::Writer writer_;
  Communicators communicators_;
  HostLanes lanes_;
  Batches batches_;
  NvtxIssues ranges_;
  std::uint64_t drain_ = 0;
};

TEST_F(NvtxRanges, SayOperationCommunicatorSizeAndPeer) {
  range(1, "ncclCommInitRankConfig", 1, 2,
        {{kComm, 7}, {"No. of ranks", 4}, {"Rank", 3}, {"CUDA device", 0}});
  range(1, "ncclAllReduce", 10, 20, {{kComm, 7}, {kBytes, 100}, {"Reduction operation", 0}});
  range(1, "ncclAllGather", 30, 40, {{kComm, 7}, {kBytes, 100}});
  range(1, "ncclAllReduce", 50, 60, {{kComm, 7}, {kBytes, 200}});
  range(1, "ncclBroadcast", 70, 80, {{kComm, 7}, {kBytes, 300}, {"Root", 2}});
  range(1, "ncclReduceScatter", 90, 95,
        {{kComm, 8}, {kBytes, 300}});  // of a communicator that nobody told of
  range(1, "ncclMemAlloc", 96, 97);
  const trace::Reader reader = finish();
  const auto issues = all<trace::CollectiveIssue>(reader);
  ASSERT_EQ(issues.size(), 5U);
  const std::vector<std::tuple<Operation, std::int64_t, std::uint64_t, std::int32_t>> expected{
      {Operation::all_reduce, 0, 100, -1},
      {Operation::all_gather, 0, 400, -1},
      {Operation::all_reduce, 1, 200, -1},
      {Operation::broadcast, 0, 300, 2},
      {Operation::reduce_scatter, 0, 0, -1}};
  for (std::size_t i = 0; i < issues.size(); ++i) {
    EXPECT_EQ(std::tuple(issues[i].operation, issues[i].sequence, issues[i].bytes, issues[i].peer),
              expected[i])
        << i;
  }
  EXPECT_EQ(issues[0].begin, 10);
  EXPECT_EQ(issues[0].end, 20);
  ASSERT_EQ(reader.groups().size(), 2U);
  EXPECT_EQ(reader.groups()[0].own_rank, 3);
  EXPECT_EQ(reader.groups()[0].size, 4);
  EXPECT_EQ(reader.groups()[1].size, 0);
}

// Their kernels are launched by ncclGroupEnd; groups nest.
TEST_F(NvtxRanges, OfAGroupStandWhereItEnds) {
  range(1, "ncclGroupStart", 1, 2);
  range(1, "ncclGroupStart", 3, 4);
  range(1, "ncclSend", 5, 6, {{kComm, 7}, {kBytes, 8}, {"Peer rank", 1}});
  range(2, "ncclAllReduce", 5, 9, {{kComm, 9}, {kBytes, 8}});  // another thread, in no group
  range(1, "ncclGroupEnd", 7, 8);
  range(1, "ncclRecv", 9, 10, {{kComm, 7}, {kBytes, 8}, {"Peer rank", 1}});
  range(1, "ncclGroupEnd", 11, 20);
  const auto issues = all<trace::CollectiveIssue>(finish());
  ASSERT_EQ(issues.size(), 3U);
  for (const trace::CollectiveIssue& issue : issues) {
    const bool grouped = issue.operation != Operation::all_reduce;
    EXPECT_EQ(issue.begin, grouped ? 11 : 5);
    EXPECT_EQ(issue.end, grouped ? 20 : 9);
    EXPECT_EQ(issue.sequence, grouped ? trace::kNoSequence : 0);
  }
}

// Each operation counts once.
TEST_F(NvtxRanges, AreLeftOutWhereThePluginTellsOfTheCommunicator) {
  range(1, "ncclAllReduce", 10, 20, {{kComm, 7}, {kBytes, 100}});
  range(1, "ncclAllReduce", 10, 20, {{kComm, 8}, {kBytes, 100}});
  range(1, "ncclAllReduce", 10, 20, {{kBytes, 100}});  // says no communicator: before 2.25
  drains(1);
  communicators_.begin({.hash = 7, .context = 1, .rank = 0, .ranks = 2, .version = 5}, "", 1);  // told late
  drains(2);
  const auto issues = all<trace::CollectiveIssue>(finish());
  ASSERT_EQ(issues.size(), 1U) << "the plugin tells of communicator 7, and of whatever says none";
}

}  // namespace
}  // namespace lockstep::tracer::nccl

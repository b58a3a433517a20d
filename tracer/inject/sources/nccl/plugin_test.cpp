// The tables as libnccl uses them, against what must then be in the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "tracer/inject/sources/nccl/stand_in/libnccl.h"
#include "tracer/inject/sources/nccl/stand_in/recorded.h"

namespace lockstep::tracer::nccl {
namespace {

using stand_in::all;
using stand_in::Call;
using stand_in::Communicator;
using stand_in::lost;
using stand_in::Recorded;
using testing::IsEmpty;
using trace::DataType;
using trace::kNoRank;
using trace::kNoSequence;
using trace::Operation;

constexpr std::uint64_t kWorld = 0x1234567890abcdef;
constexpr std::uint64_t kPair = 0xfedcba;

// An issue in words: "ncclAllReduce 0 4096 float32 -1 RING SIMPLE 24 of nccl 0x…".
std::string words(const trace::Reader& reader, const trace::CollectiveIssue& issue) {
  const std::string group =
      issue.group == trace::kNoGroup ? "nobody" : reader.groups().at(issue.group).name.substr(5);
  std::string text = std::string(reader.string(issue.name)) + " of " + group;
  text += " #" + std::to_string(issue.sequence) + " " + std::to_string(issue.bytes) + " B " +
          to_string(issue.data_type) + " peer " + std::to_string(issue.peer) + " ";
  text += std::string(reader.string(issue.algorithm)) + "/" + std::string(reader.string(issue.protocol)) +
          "/" + std::to_string(issue.channels);
  return text;
}

std::vector<std::string> words(const trace::Reader& reader) {
  std::vector<std::string> texts;
  for (const trace::CollectiveIssue& issue : all<trace::CollectiveIssue>(reader))
    texts.push_back(words(reader, issue));
  return texts;
}

template <class Table>
Table& table();
template <>
abi::TableV1& table() {
  return ncclProfiler_v1;
}
template <>
abi::TableV2& table() {
  return ncclProfiler_v2;
}
template <>
abi::TableV3& table() {
  return ncclProfiler_v3;
}
template <>
abi::TableV4& table() {
  return ncclProfiler_v4;
}
template <>
abi::TableV5& table() {
  return ncclProfiler_v5;
}
template <>
abi::TableV6& table() {
  return ncclProfiler_v6;
}

template <class Table>
class EveryVersion : public testing::Test {};
using Tables =
    testing::Types<abi::TableV1, abi::TableV2, abi::TableV3, abi::TableV4, abi::TableV5, abi::TableV6>;
TYPED_TEST_SUITE(EveryVersion, Tables);

// Each function once or twice, a group of several calls in one kernel, sends and receives, one of two ranks.
template <class Table>
void train() {
  Communicator<Table> world(table<Table>(), kWorld, 1, 4, "default");
  EXPECT_NE(world.context(), nullptr);
  world.issue({{{"AllReduce", 1000, 7, 0}}});
  world.issue({{{"AllReduce", 2000, 9, 0}}}, {.stop_in_odd_order = true});
  world.issue({{{"AllGather", 100, 9, 0}}});
  world.issue({{{"ReduceScatter", 100, 6, 0}}});
  world.issue({{{"Broadcast", 50, 8, 3}}});
  world.issue({{{"AllReduce", 1, 7, 0}, {"AllReduce", 2, 7, 0}}});
  world.issue({{{"Send", 10, 7, 2}, {"Recv", 20, 7, 0}}});
  world.issue({{{"Reduce", 5, 4, 2}}, {{"AllReduce", 3, 7, 0}}});  // two kernels of one call
  world.finalize();
}

TYPED_TEST(EveryVersion, TellsOfEachOperationOnce) {
  using World = Communicator<TypeParam>;
  Recorded recorded;
  recorded.run(train<TypeParam>);
  const trace::Reader reader = recorded.open();
  // Before v4 nobody says how many ranks there are, which the size of all-gathers depends on; before v5
  // nobody says what all-gathers and broadcasts are of; and v1 to v3 say no channels of sends.
  const bool sized = World::kToldAtInit;
  const bool typed = World::kKnowsCalls;
  const std::string ours = " of 0x1234567890abcdef ";
  const std::string how = " RING/SIMPLE/24";
  const std::string p2p = World::kToldAtInit ? " //4" : " //0";
  const std::vector<std::string> expected{
      "ncclAllReduce" + ours + "#0 4000 B float32 peer -1" + how,
      "ncclAllReduce" + ours + "#1 4000 B bfloat16 peer -1" + how,
      "ncclAllGather" + ours + "#0 " + (sized ? "800" : "0") + " B " + (typed ? "bfloat16" : "unknown") +
          " peer -1" + how,
      "ncclReduceScatter" + ours + "#0 " + (sized ? "800" : "0") + " B float16 peer -1" + how,
      "ncclBroadcast" + ours + "#0 400 B " + (typed ? "float64" : "unknown") + " peer 3" + how,
      "ncclAllReduce" + ours + "#2 4 B float32 peer -1" + how,
      "ncclAllReduce" + ours + "#3 8 B float32 peer -1" + how,
      "ncclSend" + ours + "#-1 40 B float32 peer 2" + p2p,
      "ncclRecv" + ours + "#-1 80 B float32 peer 0" + p2p,
      "ncclReduce" + ours + "#0 40 B int64 peer 2" + how,
      "ncclAllReduce" + ours + "#4 12 B float32 peer -1" + how,
  };
  EXPECT_EQ(words(reader), expected);
  const auto issues = all<trace::CollectiveIssue>(reader);
  ASSERT_EQ(issues.size(), expected.size());
  // Together in one kernel: those of one call each, but the last two, which are two kernels.
  const std::vector<int> kernels{0, 1, 2, 3, 4, 5, 5, 6, 6, 7, 8};
  for (std::size_t i = 1; i < issues.size(); ++i) {
    EXPECT_EQ(issues[i].correlation == issues[i - 1].correlation, kernels[i] == kernels[i - 1]) << i;
    EXPECT_NE(issues[i].correlation, trace::kNoCorrelation);
    EXPECT_GE(issues[i].begin, issues[i - 1].begin);
    EXPECT_GE(issues[i].end, issues[i].begin);
    if (kernels[i] != kernels[i - 1]) {
      EXPECT_GE(issues[i].begin, issues[i - 1].end) << i;
    }
  }
  ASSERT_EQ(reader.groups().size(), 1U);
  const trace::Group& group = reader.groups()[0];
  EXPECT_EQ(group.own_rank, 1);
  EXPECT_EQ(group.size, World::kToldAtInit ? 4 : 0);
  EXPECT_EQ(group.description, World::kToldAtInit ? "default" : "");
  EXPECT_THAT(group.ranks, IsEmpty());
  EXPECT_EQ(lost(reader), 0U);
  EXPECT_EQ(reader.metadata().at("source.nccl"), "recording");
  EXPECT_EQ(reader.metadata().at("source.nccl.problem"), "");
}

TYPED_TEST(EveryVersion, KeepsCommunicatorsAndThreadsApart) {
  static constexpr int kThreads = 4;
  static constexpr int kEach = 50;
  Recorded recorded;
  recorded.run([] {
    // All are made on one thread, and used on others.
    std::vector<Communicator<TypeParam>> worlds;
    for (int i = 0; i < kThreads; ++i)
      worlds.emplace_back(table<TypeParam>(), 100 + static_cast<std::uint64_t>(i), i, kThreads, "c");
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&world = worlds[static_cast<std::size_t>(i)], i] {
        for (int n = 0; n < kEach; ++n)
          world.issue({{{"AllReduce", static_cast<std::uint64_t>(i + 1), 0, 0}}});
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  const trace::Reader reader = recorded.open();
  std::map<trace::GroupId, std::int64_t> next;
  std::map<trace::GroupId, std::set<trace::LaneId>> lanes;
  for (const trace::CollectiveIssue& issue : all<trace::CollectiveIssue>(reader)) {
    ASSERT_LT(issue.group, reader.groups().size());
    const trace::Group& group = reader.groups()[issue.group];
    EXPECT_EQ(issue.bytes, static_cast<std::uint64_t>(group.own_rank) + 1);
    EXPECT_EQ(issue.sequence, next[issue.group]++);
    lanes[issue.group].insert(issue.lane);
  }
  ASSERT_EQ(next.size(), std::size_t{kThreads});
  for (const auto& [group, count] : next) EXPECT_EQ(count, kEach);
  for (const auto& [group, of_group] : lanes) EXPECT_EQ(of_group.size(), 1U);
  EXPECT_EQ(lost(reader), 0U);
}

template <class Table>
class WithCalls : public testing::Test {};
using CallTables = testing::Types<abi::TableV5, abi::TableV6>;
TYPED_TEST_SUITE(WithCalls, CallTables);

// A callback of the driver runs the host task, on its own thread and later: the issue stands where the launch
// was.
TYPED_TEST(WithCalls, AHostCallbackFindsItsLaunch) {
  Recorded recorded;
  recorded.run([] {
    Communicator<TypeParam> world(table<TypeParam>(), kWorld, 0, 2, nullptr);
    auto first = world.issue({{{"AllReduce", 1, 0, 0}}, {{"AllReduce", 2, 0, 0}}}, {.host_callback = true});
    auto second = world.issue({{{"AllReduce", 3, 0, 0}}}, {.host_callback = true});
    std::thread driver([&] {
      for (auto& plan : first) world.run_host_task(plan);
      for (auto& plan : second) world.run_host_task(plan);
    });
    driver.join();
  });
  const trace::Reader reader = recorded.open();
  const auto issues = all<trace::CollectiveIssue>(reader);
  ASSERT_EQ(issues.size(), 3U);
  for (std::size_t i = 0; i < issues.size(); ++i) {
    EXPECT_EQ(issues[i].bytes, i + 1);
    const trace::Lane& lane = reader.lanes().at(issues[i].lane);
    EXPECT_EQ(lane.handle, lane.process) << "on the main thread";
    EXPECT_EQ(lane.kind, trace::LaneKind::host_thread);
  }
  EXPECT_LE(issues[0].end, issues[1].begin);
  EXPECT_LE(issues[1].end, issues[2].begin);
}

// Captured operations get no number, as NCCL counts none, and each launch of the graph tells of them anew.
TYPED_TEST(WithCalls, CapturedOperationsAreNotNumbered) {
  static constexpr int kReplays = 3;
  Recorded recorded;
  recorded.run([] {
    using World = Communicator<TypeParam>;
    World world(table<TypeParam>(), kWorld, 0, 2, nullptr);
    const typename World::Options captured{.captured = true, .host_callback = true};
    world.issue({{{"AllReduce", 1, 0, 0}}});
    auto plans = world.issue({{{"AllReduce", 2, 0, 0}}}, captured);
    for (int i = 0; i < kReplays; ++i) {
      std::thread driver([&] { world.run_host_task(plans[0], captured); });
      driver.join();
    }
    world.issue({{{"AllReduce", 3, 0, 0}}});
  });
  const trace::Reader reader = recorded.open();
  std::vector<std::pair<std::uint64_t, std::int64_t>> seen;  // bytes, sequence
  for (const trace::CollectiveIssue& issue : all<trace::CollectiveIssue>(reader))
    seen.emplace_back(issue.bytes, issue.sequence);
  std::sort(seen.begin(), seen.end());
  const std::vector<std::pair<std::uint64_t, std::int64_t>> expected{
      {1, 0}, {2, -1}, {2, -1}, {2, -1}, {3, 1}};
  EXPECT_EQ(seen, expected);
}

TEST(CopyEngine, CollectivesWithoutAKernelAreIssuesToo) {
  Recorded recorded;
  recorded.run([] {
    Communicator<abi::TableV6> world(ncclProfiler_v6, kPair, 0, 2, nullptr);
    abi::DescriptorV6 event{};
    event.type = abi::kCopyEngineCollective;
    event.details.copy_engine_collective = {7,    "AllGather", nullptr, nullptr, 40, 0,      "ncclInt8",
                                            "UC", false,       0,       0,       7,  nullptr};
    void* handle = nullptr;
    ncclProfiler_v6.start_event(world.context(), &handle, &event);
    ncclProfiler_v6.stop_event(handle);
  });
  EXPECT_THAT(
      words(recorded.open()),
      testing::ElementsAre("ncclAllGather of 0x0000000000fedcba #-1 80 B unknown peer -1 COPY_ENGINE//0"));
}

// Only what helps to find the kernel of an operation is asked for.
TEST(Mask, LeavesNetworkAndKernelChannelsOut) {
  Recorded recorded;
  recorded.run([] {
    const Communicator<abi::TableV6> world(ncclProfiler_v6, kWorld, 0, 2, nullptr);
    EXPECT_EQ(world.mask(), 1 | 2 | 4 | 256 | 512 | 1024 | 2048 | 4096);
    setenv("LOCKSTEP_NCCL_DETAIL", "proxy", 1);
    const Communicator<abi::TableV6> detailed(ncclProfiler_v6, kWorld, 0, 2, nullptr);
    EXPECT_EQ(detailed.mask(), world.mask() | 8 | 16 | 128);
  });
}

TEST(Mask, IsEmptyWhereNothingIsRecorded) {
  Recorded recorded;
  recorded.run([] {
    setenv("LOCKSTEP_SOURCES", "nvtx,cupti", 1);
    const Communicator<abi::TableV4> world(ncclProfiler_v4, kWorld, 0, 2, nullptr);
    EXPECT_EQ(world.mask(), 0);
    EXPECT_EQ(world.context(), nullptr);
  });
  EXPECT_TRUE(std::filesystem::is_empty(recorded.folder()));
}

TEST(Network, StepsBecomeRangesOfTheProxyThread) {
  Recorded recorded;
  recorded.run([] {
    setenv("LOCKSTEP_NCCL_DETAIL", "proxy", 1);
    Communicator<abi::TableV4> world(ncclProfiler_v4, kWorld, 0, 2, nullptr);
    std::thread proxy([&] {
      abi::DescriptorV4 event{};
      event.type = abi::kProxyOperation;
      event.details.proxy_operation = {getpid(), 3, 1, 8, 4096, 1};
      void* operation = nullptr;
      ncclProfiler_v4.start_event(world.context(), &operation, &event);
      abi::DescriptorV4 of_step{};
      of_step.type = abi::kProxyStep;
      of_step.parent = operation;
      of_step.details.proxy_step = {5};
      void* step = nullptr;
      ncclProfiler_v4.start_event(world.context(), &step, &of_step);
      abi::StateV4 state{};
      state.step_bytes = 512;
      ncclProfiler_v4.record_event_state(step, 9, &state);
      ncclProfiler_v4.stop_event(step);
      ncclProfiler_v4.stop_event(operation);
    });
    proxy.join();
  });
  const trace::Reader reader = recorded.open();
  std::vector<std::string> seen;
  const auto status = reader.read_with_arguments<trace::HostRange>(
      {}, [&](const trace::HostRange& range, std::span<const trace::Argument> arguments) {
        std::string text(reader.string(range.name));
        for (const trace::Argument& argument : arguments) {
          const std::string_view key = reader.string(argument.key);
          if (key == "step" || key == "bytes" || key == "peer" || key == "channel" || key == "chunk bytes")
            text += " " + std::string(key) + " " + std::to_string(argument.bits);
        }
        EXPECT_FALSE(range.nested);
        seen.push_back(text);
      });
  EXPECT_TRUE(status.ok());
  EXPECT_THAT(seen, testing::ElementsAre("proxy step step 5 bytes 512",
                                         "proxy send channel 3 peer 1 chunk bytes 4096"));
}

}  // namespace
}  // namespace lockstep::tracer::nccl

#include "analyzer/import/kineto/kineto.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/import/kineto/kineto_text.h"
#include "analyzer/import/test_files.h"

namespace lockstep::analyzer::kineto {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using trace::LaneKind;

TEST(Kineto, JoinsLaunchesAndSteps) {
  const RankImport import = import_text(document({
      annotation("ProfilerStep#4", "100", "50"), annotation("ProfilerStep#5", "150", "50"),
      event("gpu_user_annotation", "ProfilerStep#4", "120", "60", 7, ""),  // the device's echo: no step
      kernel("a", "160.5", "10.25", 11), kernel("b", "180", "5", 12), kernel("c", "190", "5", 99),
      launch("140", "5", 11), launch("149", "2", 12),  // returns in step 5
  }));
  const RankTrace& trace = import.trace;
  EXPECT_EQ(trace.rank, 3);
  EXPECT_TRUE(import.rank_known);
  EXPECT_EQ(import.world_size, 8);
  EXPECT_EQ(trace.device, "cuda:0");
  EXPECT_EQ(trace.resolution_ns, 1);
  ASSERT_EQ(trace.steps.size(), 2u);
  EXPECT_EQ(trace.steps[1].number, 5);
  EXPECT_EQ(trace.steps[1].begin, 150'000);
  EXPECT_EQ(trace.steps[1].end, 200'000);
  ASSERT_EQ(trace.activities.size(), 3u);
  const Activity& a = trace.activities[0];
  EXPECT_EQ(a.begin, 160'500);
  EXPECT_EQ(a.end, 170'750);
  EXPECT_EQ(a.launch_begin, 140'000);
  EXPECT_EQ(a.launch_end, 145'000);
  EXPECT_EQ(a.step, 0u);
  EXPECT_EQ(import.strings.view(a.name), "a");
  EXPECT_EQ(trace.activities[1].step, 1u);
  EXPECT_EQ(trace.activities[2].launch_begin, kUnknownTime);
  EXPECT_EQ(trace.activities[2].step, kNone);
  EXPECT_THAT(import.warnings, IsEmpty());
}

TEST(Kineto, TellsKernelsOfOneNameByTheirSize) {
  const auto sized = [](const char* time, const char* sizes) {
    return event("kernel", "gemm", time, "5", 7, fmt::format("\"stream\": 7{}", sizes));
  };
  const RankImport import = import_text(document(
      {sized("10", R"(, "grid": [1, 2, 3], "block": [256, 1, 1])"),
       sized("20", R"(, "block": "[256, 1, 1]", "grid": "[1, 2, 3]")"),  // as text, and the other way round
       sized("30", R"(, "grid": [1, 23, 1], "block": [256, 1, 1])"),
       sized("40", R"(, "grid": [1, 2, 3], "block": [128, 1, 1])"), sized("50", "")}));
  const std::vector<Activity>& kernels = import.trace.activities;
  ASSERT_EQ(kernels.size(), 5u);
  EXPECT_NE(kernels[0].shape, 0u);
  EXPECT_EQ(kernels[1].shape, kernels[0].shape);
  EXPECT_NE(kernels[2].shape, kernels[0].shape);
  EXPECT_NE(kernels[3].shape, kernels[0].shape);
  EXPECT_EQ(kernels[4].shape, 0u) << "not known";
  std::vector<std::uint32_t> warps;
  for (const Activity& kernel : kernels) warps.push_back(kernel.warps);
  EXPECT_THAT(warps, ElementsAre(6u * 8, 6u * 8, 23u * 8, 6u * 4, 0u));
}

TEST(Kineto, LaunchSizesThatAreNoneAreNotKnown) {
  for (const char* grid :
       {"[1, 23]", "[1, 2, 3, 4]", "[0, 1, 1]", "[-4, 1, 1]", "[1.5, 1, 1]", "[4294967296, 1, 1]",
        "[\"a\", 1, 1]", "[]", "{}", "null", "true", "\"many\"", "\"[1, 2, 3\"", "\"[1 2 3]\""}) {
    const RankImport import =
        import_text(document({event("kernel", "gemm", "10", "5", 7,
                                    fmt::format(R"("stream": 7, "grid": {}, "block": [256, 1, 1])", grid))}));
    ASSERT_EQ(import.trace.activities.size(), 1u) << grid;
    EXPECT_EQ(import.trace.activities[0].shape, 0u) << grid;
    EXPECT_EQ(import.trace.activities[0].warps, 0u) << grid;
  }
}

TEST(Kineto, GivesEachActivityItsClass) {
  const RankImport import = import_text(document({
      kernel("gemm", "1", "1", 1),
      event("gpu_memcpy", "Memcpy HtoD", "2", "1", 7, R"("stream": 7, "device": 0)"),
      event("gpu_memset", "Memset", "3", "1", 7, R"("stream": 7, "device": 0)"),
      event("cuda_sync", "Stream Sync", "4", "1", 7, R"("stream": 7, "device": -1)"),
      kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "5", "1", 2, 20),
      kernel("ncclDevKernel_SendRecv(x)", "6", "1", 3, 20),
      kernel("my_all_reduce", "7", "1", 4),
      event("gpu_memcpy", "Memcpy PtoP", "8", "1", 20, R"("stream": 20, "Collective name": "allgather")"),
      kernel("foreign_kernel", "9", "1", 5, 20, R"(, "Collective name": "send", "Dst Rank": 6)"),
  }));
  std::vector<Class> classes;
  for (const Activity& activity : import.trace.activities) classes.push_back(activity.activity_class);
  EXPECT_THAT(classes, ElementsAre(Class::compute, Class::copy, Class::copy, Class::sync, Class::collective,
                                   Class::p2p, Class::unclassified, Class::collective, Class::p2p));
  ASSERT_EQ(import.trace.communications.size(), 4u);
  EXPECT_EQ(import.trace.communications[2].operation, Operation::all_gather);
  EXPECT_EQ(import.trace.communications[3].peer, 6);
  ASSERT_EQ(import.trace.lanes.size(), 2u);
  EXPECT_EQ(import.trace.lanes[0].name, "stream 7");
  EXPECT_EQ(import.trace.lanes[0].kind, LaneKind::device_stream);
  EXPECT_EQ(import.trace.lanes[1].handle, 20u);
  EXPECT_EQ(import.trace.lanes[1].kind, LaneKind::communication);
}

TEST(Kineto, TakesTheOperationFromTheRangeAroundTheLaunch) {
  const RankImport import = import_text(document({
      kernel("ncclKernel_SendRecv_RING(x)", "100", "1", 1),
      kernel("ncclKernel_SendRecv_RING(x)", "101", "1", 2),
      kernel("ncclKernel_SendRecv_RING(x)", "102", "1", 3),
      kernel("ncclKernel_SendRecv_RING(x)", "103", "1", 4),
      annotation("nccl:all_to_all", "10", "10"),
      annotation("nccl:coalesced", "30", "20"),
      annotation("nccl:_all_gather_base", "35", "5"),
      annotation("nccl:all_reduce", "10", "100", 2),
      launch("12", "1", 1),
      launch("36", "1", 2),
      launch("45", "1", 3),
      launch("60", "1", 4),
  }));
  std::vector<Operation> operations;
  for (const Communication& communication : import.trace.communications) {
    operations.push_back(communication.operation);
    EXPECT_FALSE(communication.has_metadata);
    EXPECT_EQ(communication.bytes, -1);
  }
  // The third was launched within `coalesced`, which names nothing; the fourth outside of any range of its
  // thread.
  EXPECT_THAT(operations, ElementsAre(Operation::all_to_all, Operation::all_gather, Operation::send_recv,
                                      Operation::send_recv));
  EXPECT_EQ(import.trace.activities[0].activity_class, Class::collective);
  EXPECT_EQ(import.trace.activities[3].activity_class, Class::p2p);
}

// Several messages at once: what ran only the kernel's name tells, and the group is the event's.
TEST(Kineto, CoalescedMessagesHaveTheirGroup) {
  const RankImport import = import_text(document({
      kernel(
          "ncclDevKernel_SendRecv(x)", "100", "1", 1, 7,
          R"(, "Collective name": "coalesced", "Process Group Name": "3", "Process Group Description": "mesh_pp",
                "Process Group Ranks": "[0, 2]", "Group size": 2, "In msg nelems": 0, "dtype": "Float")"),
      launch("12", "1", 1),
  }));
  ASSERT_EQ(import.trace.communications.size(), 1u);
  const Communication& communication = import.trace.communications[0];
  EXPECT_EQ(communication.operation, Operation::send_recv);
  EXPECT_FALSE(communication.has_metadata);
  EXPECT_EQ(communication.bytes, -1);
  ASSERT_NE(communication.group, kNone);
}

constexpr const char* kReduceScatter =
    R"(, "Collective name": "_reduce_scatter_base", "In msg nelems": 800, "Out msg nelems": 100, "Group size": 8, "dtype": "BFloat16",
        "Process Group Name": "2", "Process Group Description": "dp", "Process Group Ranks": "[8, 9, 10, 11, 3, 2, 1, 0]", "Seq": 17)";

TEST(Kineto, ReadsCollectiveMetadata) {
  const RankImport import = import_text(document({
      kernel("ncclDevKernel_ReduceScatter(x)", "1", "1", 1, 20, kReduceScatter),
      kernel(
          "ncclDevKernel_Broadcast(x)", "2", "1", 2, 20,
          R"(, "Collective name": "broadcast", "In msg nelems": 5, "Out msg nelems": 5, "dtype": "Long", "Rank": 4,
                "Process Group Name": "2", "Process Group Description": "dp", "Group size": 8, "Process Group Ranks": [8, 9, 10, 11, 3, 2, 1, 0])"),
      kernel(
          "ncclDevKernel_SendRecv(x)", "3", "1", 3, 20,
          R"(, "Collective name": "recv", "In msg nelems": 7, "Out msg nelems": 7, "dtype": "Byte", "Src Rank": 9, "Rank": 1)"),
  }));
  const auto& communications = import.trace.communications;
  ASSERT_EQ(communications.size(), 3u);
  EXPECT_TRUE(communications[0].has_metadata);
  EXPECT_EQ(communications[0].operation, Operation::reduce_scatter);
  EXPECT_EQ(communications[0].bytes, 1600);  // the larger side
  EXPECT_EQ(communications[0].data_type, DataType::bfloat16);
  EXPECT_EQ(communications[0].sequence, 17);
  EXPECT_EQ(communications[0].peer, kNoRank);
  EXPECT_EQ(communications[1].peer, 3);  // group rank 4
  EXPECT_EQ(communications[1].bytes, 40);
  EXPECT_EQ(communications[1].sequence, kNoSequence);
  EXPECT_EQ(communications[2].peer, 9);
  EXPECT_EQ(communications[2].group, kNone);
  // The list as text and as an array is the same group.
  EXPECT_EQ(communications[0].group, communications[1].group);
  ASSERT_EQ(import.groups.size(), 1u);
  EXPECT_EQ(import.groups[0].name, "2");
  EXPECT_EQ(import.groups[0].description, "dp");
  EXPECT_THAT(import.groups[0].ranks, ElementsAre(0, 1, 2, 3, 8, 9, 10, 11));
}

TEST(Kineto, CompletesCutListsOfRanks) {
  const std::string cut =
      R"(, "Collective name": "allreduce", "Group size": {}, "Process Group Name": "{}", "Process Group Ranks": "[0, 2, ...]")";
  const RankImport import = import_text(document(
      {kernel("ncclKernel(x)", "1", "1", 1, 20, fmt::format(fmt::runtime(cut), 4, "declared")),
       kernel("ncclKernel(x)", "2", "1", 2, 20, fmt::format(fmt::runtime(cut), 8, "everyone")),
       kernel("ncclKernel(x)", "3", "1", 3, 20, fmt::format(fmt::runtime(cut), 4, "unknown"))},
      R"("distributedInfo": {"rank": 0, "world_size": 8, "pg_config": [{"pg_name": "declared", "ranks": [0, 2, 4, 6]}, {"pg_name": "x"}]})"));
  ASSERT_EQ(import.groups.size(), 3u);
  EXPECT_THAT(import.groups[0].ranks, ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(import.groups[1].ranks, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(import.groups[2].ranks, IsEmpty());
  EXPECT_EQ(import.groups[2].size, 4);
}

TEST(Kineto, ACutListWithoutAGoodSizeSaysThatThereAreOthers) {
  const std::string cut =
      R"(, "Collective name": "allreduce", {}"Process Group Name": "x", "Process Group Ranks": "[0, 2, ...]")";
  for (const char* size :
       {"", R"("Group size": 1, )", R"("Group size": -5, )", R"("Group size": 99999999999, )"}) {
    const RankImport import = import_text(
        document({kernel("ncclKernel(x)", "1", "1", 1, 20, fmt::format(fmt::runtime(cut), size))}));
    ASSERT_EQ(import.groups.size(), 1u);
    EXPECT_THAT(import.groups[0].ranks, IsEmpty());
    EXPECT_EQ(import.groups[0].size, 0) << size;
    EXPECT_TRUE(import.groups[0].may_have_others) << size;
  }
}

TEST(Kineto, KeepsHostRangesIfAsked) {
  const std::string text = document({
      annotation("ProfilerStep#0", "0", "100"),
      annotation("aten::linear", "10", "20", 1, "cpu_op"),
      annotation("aten::addmm", "12", "10", 1, "cpu_op"),
      launch("13", "2", 5),
      annotation("train.py(3): main", "5", "90", 1, "python_function"),
      launch("14.5", "0.25", 6, 1, "cuLaunchKernel", "cuda_driver"),
      annotation("enumerate(DataLoader)#_Iter.__next__", "1", "3"),
      annotation("worker", "2", "9", 2, "cpu_op"),
      launch("40", "1", 8, 1, "cudaEventQuery"),
      R"-({"ph": "M", "name": "thread_name", "pid": 100, "tid": 1, "args": {"name": "thread 1 (python)"}})-",
  });
  const RankImport few = import_text(text);
  ASSERT_EQ(few.trace.host_ranges.size(), 2u);
  EXPECT_EQ(few.trace.host_ranges[0].kind, HostKind::step);
  EXPECT_EQ(few.trace.host_ranges[1].kind, HostKind::data_loading);
  EXPECT_EQ(few.trace.host_ranges[1].begin, 1'000);

  const RankImport all = import_text(text, {.keep_host_ranges = true, .progress = {}});
  std::vector<std::string> described;
  for (const HostRange& range : all.trace.host_ranges)
    described.push_back(fmt::format("{} {} {} {}", all.trace.lanes[range.lane].name, range.depth,
                                    all.strings.view(range.name), static_cast<int>(range.kind)));
  EXPECT_THAT(described,
              ElementsAre("thread 1 (python) 0 ProfilerStep#0 1",
                          "thread 1 (python) 1 enumerate(DataLoader)#_Iter.__next__ 2",
                          "thread 1 (python) 1 train.py(3): main 0", "thread 1 (python) 2 aten::linear 0",
                          "thread 1 (python) 3 aten::addmm 0", "thread 1 (python) 4 cudaLaunchKernel 3",
                          "thread 1 (python) 5 cuLaunchKernel 3", "thread 1 (python) 2 cudaEventQuery 0",
                          "thread 2 0 worker 0"));
}

TEST(Kineto, LongHostRangesAndCallsAreAlwaysKept) {
  const RankImport few = import_text(document({
      annotation("aten::nonzero", "10", "1000", 1, "cpu_op"),
      annotation("aten::add", "2000", "999.999", 1, "cpu_op"),
      launch("4000", "1500", 5),
      launch("6000", "500", 6),
      launch("7000", "2000", 7, 1, "cudaStreamSynchronize"),
  }));
  std::vector<std::string> kept;
  for (const HostRange& range : few.trace.host_ranges) kept.emplace_back(few.strings.view(range.name));
  EXPECT_THAT(kept, ElementsAre("aten::nonzero", "cudaLaunchKernel", "cudaStreamSynchronize"));
}

TEST(Kineto, SortsEventsThatAreOutOfOrder) {
  const RankImport import =
      import_text(document({kernel("c", "30", "1", 3), kernel("a", "10", "1", 1), kernel("b", "20", "1", 2),
                            launch("9", "1", 3), launch("7", "1", 1), launch("8", "1", 2)}));
  std::string names;
  for (const Activity& activity : import.trace.activities) {
    names += import.strings.view(activity.name);
    EXPECT_NE(activity.launch_begin, kUnknownTime);
  }
  EXPECT_EQ(names, "abc");
}

TEST(Kineto, KnowsTheResolutionAndTheTimeOfDay) {
  EXPECT_EQ(import_text(document({kernel("a", "10", "1.0", 1)})).trace.resolution_ns, 1000);
  EXPECT_EQ(import_text(document({kernel("a", "10", "1.001", 1)})).trace.resolution_ns, 1);
  EXPECT_EQ(import_text(document({kernel("a", "10", "1", 1)})).realtime_of_zero, std::nullopt);
  EXPECT_EQ(import_text(document({kernel("a", "1694128201435418", "1", 1)})).realtime_of_zero, 0);
  EXPECT_EQ(
      import_text(document({kernel("a", "10", "1", 1)}, R"("baseTimeNanoseconds": 1711964646000000000)"))
          .realtime_of_zero,
      1711964646000000000);
}

TEST(Kineto, MembersMayStandBehindTheEvents) {
  const RankImport import =
      import_text(R"({"traceEvents": [)" + kernel("a", "10", "1", 1) +
                  R"(], "baseTimeNanoseconds": 5, "distributedInfo": {"world_size": "2", "rank": "1"}})");
  EXPECT_EQ(import.trace.rank, 1);
  EXPECT_EQ(import.world_size, 2);
  EXPECT_EQ(import.realtime_of_zero, 5);
}

TEST(Kineto, ReportsProgressOfTheWholeFile) {
  const TemporaryFolder folder;
  const std::string path = folder.write("t.json", document({kernel("a", "1", "1", 1)}));
  std::uint64_t bytes = 0;
  must(
      import_file(path, {.keep_host_ranges = false, .progress = [&](std::uint64_t more) { bytes += more; }}));
  EXPECT_EQ(bytes, std::filesystem::file_size(path));
}

}  // namespace
}  // namespace lockstep::analyzer::kineto

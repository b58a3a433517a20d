#include "analyzer/import/kineto/kineto.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/import/test_files.h"

namespace lockstep::analyzer::kineto {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using trace::LaneKind;

std::string event(std::string_view cat, std::string_view name, std::string_view ts, std::string_view dur,
                  int tid, std::string_view args) {
  return fmt::format(
      R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
      cat, name, cat == "kernel" || cat.starts_with("gpu_") || cat == "cuda_sync" ? 0 : 100, tid, ts, dur,
      args);
}
std::string kernel(std::string_view name, std::string_view ts, std::string_view dur, int correlation,
                   int stream = 7, std::string_view more = "") {
  return event("kernel", name, ts, dur, stream,
               fmt::format(R"("device": 0, "stream": {}, "correlation": {}{})", stream, correlation, more));
}
std::string launch(std::string_view ts, std::string_view dur, int correlation, int tid = 1,
                   std::string_view name = "cudaLaunchKernel", std::string_view cat = "cuda_runtime") {
  return event(cat, name, ts, dur, tid, fmt::format(R"("correlation": {})", correlation));
}
std::string annotation(std::string_view name, std::string_view ts, std::string_view dur, int tid = 1,
                       std::string_view cat = "user_annotation") {
  return event(cat, name, ts, dur, tid, "");
}
std::string document(const std::vector<std::string>& events,
                     std::string_view more = R"("distributedInfo": {"rank": 3, "world_size": 8})") {
  return fmt::format(R"({{"schemaVersion": 1, {}, "traceEvents": [{}]}})", more, fmt::join(events, ",\n"));
}

RankImport import_text(const std::string& text, Options options = {},
                       const std::string& name = "trace.json") {
  const TemporaryFolder folder;
  return must(import_file(folder.write(name, text), options));
}
std::string import_error(const std::string& text) {
  const TemporaryFolder folder;
  const Result<RankImport> result = import_file(folder.write("trace.json", text));
  EXPECT_FALSE(result.ok());
  return result.ok() ? "" : result.error().message;
}

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

TEST(Kineto, DropsEventsWithoutUsableTimesAndCountsThem) {
  const RankImport import = import_text(document({
      kernel("kept", "1", "0", 1),
      kernel("negative", "1", "-1", 1),
      kernel("overflowing", "1", "9223372036854775", 1),
      kernel("far too long", "1", "1e40", 1),
      kernel("ts overflows", "9223372036854776", "1", 1),
      kernel("beyond 146 years", "4611686018427388", "1", 1),
      kernel("no number", "\"soon\"", "1", 1),
      kernel("null", "1", "null", 1),
      R"({"ph": "X", "cat": "kernel", "name": "no dur", "pid": 0, "tid": 7, "ts": 5})",
      R"({"ph": "X", "cat": "cpu_op", "name": "host without ts", "pid": 0, "tid": 7, "dur": 5})",
  }));
  ASSERT_EQ(import.trace.activities.size(), 1u);
  EXPECT_EQ(import.trace.dropped_events, 9u);
  const Warning* warning = find_warning(import.warnings, "events_dropped");
  ASSERT_NE(warning, nullptr);
  EXPECT_EQ(warning->rank, 3);
  EXPECT_THAT(
      warning->message,
      HasSubstr("9 events were dropped: 4 without a usable ts, 2 without a dur, 1 with a negative dur, 2 "
                "whose dur overflows"));
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

TEST(Kineto, TakesTheRankFromTheNameIfItMust) {
  const RankImport import =
      import_text(document({kernel("a", "10", "1", 1)}, R"("x": 1)"), {}, "trace_rank5.json");
  EXPECT_EQ(import.trace.rank, 5);
  EXPECT_NE(find_warning(import.warnings, "rank_from_file_name"), nullptr);
  const RankImport unknown = import_text(document({kernel("a", "10", "1", 1)}, R"("distributedInfo": 7)"));
  EXPECT_FALSE(unknown.rank_known);
  EXPECT_NE(find_warning(unknown.warnings, "distributed_info"), nullptr);
}

TEST(Kineto, ReadsNumbersWrittenAsTextAndFieldsInAnyOrder) {
  const RankImport import = import_text(document({
      R"({"args": {"correlation": "9", "stream": "7", "device": "0"}, "dur": "2.5", "ts": "10", "tid": "7", "name": "a", "cat": "kernel", "ph": "X"})",
      R"({"args": {"correlation": 9}, "dur": 1, "name": "cudaLaunchKernel", "ts": 3, "ph": "X", "cat": "cuda_runtime"})",
  }));
  ASSERT_EQ(import.trace.activities.size(), 1u);
  EXPECT_EQ(import.trace.activities[0].end, 12'500);
  EXPECT_EQ(import.trace.activities[0].launch_begin, 3'000);
  EXPECT_EQ(import.trace.lanes[0].handle, 7u);
}

TEST(Kineto, OfAKeyThatStandsTwiceTheFirstCounts) {
  const RankImport import = import_text(document({
      R"({"ph": "X", "ph": "M", "cat": "kernel", "cat": "cpu_op", "name": "a", "name": "b", "ts": 1, "ts": 2, "dur": 3, "dur": 4,
          "args": {"stream": 7, "stream": 8}, "args": {"stream": 9}})"}));
  ASSERT_EQ(import.trace.activities.size(), 1u);
  EXPECT_EQ(import.strings.view(import.trace.activities[0].name), "a");
  EXPECT_EQ(import.trace.activities[0].begin, 1'000);
  EXPECT_EQ(import.trace.activities[0].end, 4'000);
  EXPECT_EQ(import.trace.lanes[0].handle, 7u);
}

TEST(Kineto, UnescapesNamesAndKeepsHugeOnes) {
  const std::string huge(3'000'000, 'x');
  const RankImport import =
      import_text(document({kernel(R"(a\"b\\c\u00e9)", "1", "1", 1), kernel(huge, "2", "1", 2)}));
  ASSERT_EQ(import.trace.activities.size(), 2u);
  EXPECT_EQ(import.strings.view(import.trace.activities[0].name), "a\"b\\c\xC3\xA9");
  EXPECT_EQ(import.strings.view(import.trace.activities[1].name), huge);
}

TEST(Kineto, DoesNotMergeDevicesSilently) {
  const RankImport import = import_text(document({
      kernel("a", "1", "1", 1),
      kernel("b", "2", "1", 2),
      event("kernel", "other", "3", "1", 7, R"("device": 1, "stream": 7, "correlation": 3)"),
  }));
  EXPECT_EQ(import.trace.activities.size(), 2u);
  EXPECT_EQ(import.trace.dropped_events, 1u);
  const Warning* warning = find_warning(import.warnings, "several_devices");
  ASSERT_NE(warning, nullptr);
  EXPECT_THAT(warning->message, HasSubstr("device 0: 2, device 1: 1"));
}

TEST(Kineto, OverlappingStepsAreSaid) {
  const RankImport import = import_text(
      document({annotation("ProfilerStep#1", "0", "100"), annotation("ProfilerStep#2", "50", "100"),
                annotation("ProfilerStep#1", "0", "100", 2), annotation("ProfilerStep#3", "150", "10")}));
  ASSERT_EQ(import.trace.steps.size(), 2u);
  EXPECT_EQ(import.trace.steps[1].number, 3);
  const Warning* warning = find_warning(import.warnings, "steps_overlap");
  ASSERT_NE(warning, nullptr);
  EXPECT_THAT(warning->message, HasSubstr("1 step mark overlap"));
}

TEST(Kineto, ErrorsNameTheFileAndWhatIsWrong) {
  EXPECT_THAT(import_error(""), HasSubstr("trace.json: the file is empty"));
  EXPECT_THAT(import_error("\n\n "), HasSubstr("the file is empty"));
  EXPECT_THAT(import_error("hello"), HasSubstr("expected '{' or '['"));
  EXPECT_THAT(import_error(R"({"a": 1})"), HasSubstr("JSON without an array \"traceEvents\""));
  EXPECT_THAT(import_error(R"({"traceEvents": 7})"), HasSubstr("JSON without an array \"traceEvents\""));
  EXPECT_THAT(import_error(R"({"schemaVersion": 1, "traceEv)"),
              HasSubstr("no traceEvents could be read: ends in the middle"));
  EXPECT_THAT(import_error(gzip("")), HasSubstr("the file is empty"));
  EXPECT_THAT(import_error(gzip(document({})).substr(0, 12)), HasSubstr("the gzip data is cut short"));
  const TemporaryFolder folder;
  EXPECT_THAT(import_file(folder / "absent.json").error().message, HasSubstr("absent.json: No such file"));
}

TEST(Kineto, SaysWhatWasLostOfACutFile) {
  const std::string text = document({kernel("a", "1", "1", 1), kernel("b", "2", "1", 2)});
  const RankImport import = import_text(text.substr(0, text.size() - 20));
  EXPECT_EQ(import.trace.activities.size(), 1u);
  const Warning* warning = find_warning(import.warnings, "file_damaged");
  ASSERT_NE(warning, nullptr);
  EXPECT_THAT(warning->message, HasSubstr("ends in the middle of the JSON"));
  EXPECT_THAT(warning->message, HasSubstr("the 1 event before are used"));
}

TEST(Kineto, CountsElementsThatAreNoEvents) {
  const RankImport import = import_text(document({"7", "[]", "\"text\"", kernel("a", "1", "1", 1), "null"}));
  EXPECT_EQ(import.trace.activities.size(), 1u);
  EXPECT_EQ(import.trace.dropped_events, 4u);
  EXPECT_NE(find_warning(import.warnings, "events_unreadable"), nullptr);
  EXPECT_NE(find_warning(import_text(document({})).warnings, "no_events"), nullptr);
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

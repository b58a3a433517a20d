// What a recorded file tells of its rank; what cut and damaged ones do: damage_test.cpp.
#include "analyzer/import/run/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/import/run/recorded_rank.h"

namespace lockstep::analyzer::run {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using trace::LaneKind;
using trace::Writer;

TEST(RunFile, BecomesARank) {
  const TemporaryFolder folder;
  const RankImport import = must(import_file(write_file(folder, "rank-1.lst", write_rank)));
  const RankTrace& trace = import.trace;
  EXPECT_EQ(trace.rank, 1);
  EXPECT_EQ(import.world_size, 2);
  EXPECT_EQ(trace.host, "node7");
  EXPECT_EQ(trace.device, "cpu");
  EXPECT_EQ(trace.resolution_ns, 1);
  EXPECT_EQ(trace.clock.evidence, "same host");
  EXPECT_EQ(import.realtime_of_zero, 1'700'000'000'000'000'000);
  EXPECT_THAT(import.warnings, IsEmpty());

  ASSERT_EQ(trace.activities.size(), 3u);
  const Activity& layer = trace.activities[0];
  EXPECT_EQ(layer.begin, 1100);
  EXPECT_EQ(layer.end, 1400);
  EXPECT_EQ(layer.launch_begin, 1100);  // the thread itself computes
  EXPECT_EQ(layer.launch_end, 1100);
  EXPECT_EQ(layer.step, 0u);
  EXPECT_EQ(import.strings.view(layer.name), "layer 1");
  EXPECT_EQ(trace.lanes[layer.lane].kind, LaneKind::compute_thread);
  const Activity& reduce = trace.activities[1];
  EXPECT_EQ(reduce.activity_class, Class::collective);
  EXPECT_EQ(reduce.launch_begin, 1400);
  EXPECT_EQ(reduce.launch_end, 1410);
  EXPECT_EQ(reduce.step, 0u);
  EXPECT_EQ(trace.lanes[reduce.lane].kind, LaneKind::communication);
  EXPECT_EQ(trace.lanes[reduce.lane].name, "thread 2");

  ASSERT_EQ(trace.communications.size(), 1u);
  const Communication& communication = trace.communications[0];
  EXPECT_TRUE(communication.has_metadata);
  EXPECT_EQ(communication.operation, Operation::all_reduce);
  EXPECT_EQ(communication.sequence, 5);
  EXPECT_EQ(communication.bytes, 4'000'000);
  EXPECT_EQ(communication.data_type, DataType::float32);
  EXPECT_EQ(communication.peer, kNoRank);
  EXPECT_EQ(import.groups.at(communication.group).name, "world");
  EXPECT_THAT(import.groups.at(communication.group).ranks, ElementsAre(0, 1));

  ASSERT_EQ(trace.steps.size(), 1u);
  EXPECT_EQ(trace.steps[0].number, 12);
  ASSERT_EQ(trace.host_ranges.size(), 3u);  // other phases only if asked for
  EXPECT_EQ(trace.host_ranges[0].kind, HostKind::step);
  EXPECT_EQ(trace.host_ranges[1].kind, HostKind::data_loading);
  EXPECT_EQ(import.strings.view(trace.host_ranges[2].name), "backward") << "which says that the rank trains";
}

TEST(RunFile, LongHostRangesAndCallsAreAlwaysKept) {
  const TemporaryFolder folder;
  const std::string file = write_file(folder, "rank-1.lst", [](Writer& writer) {
    const trace::LaneId host = writer.add_lane({LaneKind::host_thread, kTrainer, 1, 0, "main"});
    writer.append(
        trace::HostRange{host, host, 1000, 1000 + kLongHostRange, writer.intern("save"), 0, 0, 0, 0, true});
    writer.append(trace::HostRange{host, host, 3'000'000, 2'999'999 + kLongHostRange, writer.intern("log"), 0,
                                   0, 0, 0, true});
    writer.append(trace::ApiCall{host, 5'000'000, 9'000'000, writer.intern("cudaMalloc"), 77});
    writer.append(trace::ApiCall{host, 9'000'000, 9'000'500, writer.intern("cudaFree"), 78});
  });
  const RankImport import = must(import_file(file));
  std::vector<std::string> kept;
  for (const HostRange& range : import.trace.host_ranges) kept.emplace_back(import.strings.view(range.name));
  EXPECT_THAT(kept, ElementsAre("save", "cudaMalloc"));
}

TEST(RunFile, RangesThatTellOfStepsOrPhasesAreKeptHoweverShort) {
  const TemporaryFolder folder;
  const std::string file = write_file(folder, "rank-1.lst", [](Writer& writer) {
    const trace::LaneId host = writer.add_lane({LaneKind::host_thread, kTrainer, 1, 0, "main"});
    Nanoseconds at = 1000;
    for (const char* name : {"forward of Net", "log", "forward of Net", "evaluation", "log"}) {
      writer.append(trace::HostRange{host, host, at, at + 900'000, writer.intern(name), 0, 0, 0, 0, true});
      at += 1'000'000;
    }
  });
  const RankImport import = must(import_file(file));
  std::vector<std::string> kept;
  for (const HostRange& range : import.trace.host_ranges) kept.emplace_back(import.strings.view(range.name));
  EXPECT_THAT(kept, ElementsAre("forward of Net", "forward of Net", "evaluation"));
}

TEST(RunFile, KeepsHostRangesAndLaunchesIfAsked) {
  const TemporaryFolder folder;
  const RankImport import =
      must(import_file(write_file(folder, "rank-1.lst", write_rank), {.keep_host_ranges = true}));
  std::vector<std::string> names;
  for (const HostRange& range : import.trace.host_ranges)
    names.push_back(std::string(import.strings.view(range.name)) + " " + std::to_string(range.depth) + " " +
                    std::to_string(static_cast<int>(range.kind)));
  EXPECT_THAT(names, ElementsAre("step 0 1", "data_loading 1 2", "backward 1 0", "issue all_reduce 2 3"));
}

void write_operators(Writer& writer) {
  const trace::LaneId host = writer.add_lane({LaneKind::host_thread, kTrainer, 1, 0, "main"});
  const auto range = [&](trace::Nanoseconds begin, trace::Nanoseconds end, const char* name,
                         const char* category) {
    trace::HostRange event;
    event.lane = event.end_lane = host;
    event.begin = begin;
    event.end = end;
    event.name = writer.intern(name);
    event.domain = writer.intern("PyTorch");
    event.category = writer.intern(category);
    event.nested = false;
    writer.append(event);
  };
  range(110, 120, "aten::linear", "operator");
  range(105, 130, "layers.0", "module");
  range(100, 200, "Model", "module");
  range(300, 305, "layers.0", "module backward");
  range(300, 304, "AddmmBackward0", "operator");
  range(310, 320, "mine", "a program's own");
  trace::HostRange own{host, host, 330, 340,  writer.intern("mine"), writer.intern("my domain"),
                       0,    0,    0,   false};
  own.category = writer.intern("module");
  writer.append(own);
}

// Short as they are: what a rank computes longer is in many of them.
TEST(RunFile, ModulesAndOperatorsAreKeptWhateverTheirLength) {
  const TemporaryFolder folder;
  const RankImport import = must(import_file(write_file(folder, "rank-0.lst", write_operators)));
  std::vector<std::tuple<std::string, HostKind, Nanoseconds>> kept;
  for (const HostRange& range : import.trace.host_ranges)
    kept.emplace_back(import.strings.view(range.name), range.kind, range.end);
  EXPECT_THAT(kept, ElementsAre(std::tuple("Model", HostKind::module, 200),
                                std::tuple("layers.0", HostKind::module, 130),
                                std::tuple("aten::linear", HostKind::operation, 120),
                                std::tuple("layers.0", HostKind::module, 305),
                                std::tuple("AddmmBackward0", HostKind::operation, 304)));
}

TEST(RunFile, SendsAndReceivesArePointToPoint) {
  const TemporaryFolder folder;
  const RankImport import = must(import_file(write_file(folder, "rank-0.lst", [](Writer& writer) {
    writer.set_metadata("rank", "0");
    trace::Collective send;
    send.lane = writer.add_lane({LaneKind::communication, 1, 1, 0, ""});
    send.begin = 1;
    send.end = 5;
    send.operation = Operation::send;
    send.peer = 3;
    writer.append(send);
  })));
  EXPECT_EQ(import.trace.activities.at(0).activity_class, Class::p2p);
  EXPECT_EQ(import.trace.communications.at(0).peer, 3);
  EXPECT_FALSE(import.trace.communications.at(0).has_metadata);
  EXPECT_EQ(import.trace.activities.at(0).launch_begin, 1);  // nothing is issued: the thread does it itself
}

std::string device_of(void (*write)(Writer&)) {
  const TemporaryFolder folder;
  return must(import_file(write_file(folder, "rank-0.lst", write))).trace.device;
}

TEST(RunFile, AnotherDeviceIsNeverCalledACpu) {
  EXPECT_EQ(device_of([](Writer& writer) {
              writer.add_lane({LaneKind::compute_thread, 1, 1, 0, "paced device"});
            }),
            "paced");
  EXPECT_EQ(device_of([](Writer& writer) {
              writer.add_lane({LaneKind::compute_thread, 1, 1, 0, "cuda device"});
            }),
            "cuda");
  EXPECT_EQ(device_of([](Writer& writer) {
              writer.add_lane({LaneKind::compute_thread, 1, 1, 0, "main"});
            }),
            "cpu");
}

TEST(RunFile, ComputationsKeepLayerMicrobatchAndPass) {
  const TemporaryFolder folder;
  const RankImport import = must(import_file(write_file(folder, "rank-0.lst", [](Writer& writer) {
    const trace::LaneId lane = writer.add_lane({LaneKind::compute_thread, 1, 1, 0, ""});
    Nanoseconds begin = 0;
    const auto compute = [&](const char* name, std::int32_t layer, std::int32_t microbatch, Pass pass) {
      writer.append(trace::DeviceActivity{.lane = lane,
                                          .begin = begin,
                                          .end = begin + 5,
                                          .name = writer.intern(name),
                                          .layer = layer,
                                          .microbatch = microbatch,
                                          .pass = pass});
      begin += 10;
    };
    compute("layer 3", 3, 1, Pass::recompute);
    compute("forward layer 2", 2, 0, Pass::other);  // the name says the pass
    compute("backward", -1, -1, Pass::other);
    compute("forward again", 2, 0, Pass::backward);  // the pass outweighs the name
    compute("layer 3", 3, 1, Pass::recompute);
    compute("matmul", -1, -1, Pass::other);            // says nothing
    compute("matmul", -1, -1, static_cast<Pass>(77));  // of a later version
  })));
  const RankTrace& trace = import.trace;
  ASSERT_EQ(trace.activities.size(), 7u);
  const auto of = [&](std::size_t row) { return trace.computations.at(trace.activities[row].compute); };
  EXPECT_TRUE(of(0) == (Computation{3, 1, Pass::recompute}));
  EXPECT_TRUE(of(1) == (Computation{2, 0, Pass::forward}));
  EXPECT_TRUE(of(2) == (Computation{-1, -1, Pass::backward}));
  EXPECT_TRUE(of(3) == (Computation{2, 0, Pass::backward}));
  EXPECT_EQ(trace.activities[4].compute, trace.activities[0].compute);
  EXPECT_EQ(trace.activities[5].compute, kNone);
  EXPECT_EQ(trace.activities[6].compute, kNone);
  EXPECT_EQ(trace.computations.size(), 4u);
}

TEST(RunFile, CountersBecomeTracksByName) {
  const TemporaryFolder folder;
  const RankImport import = must(import_file(write_file(folder, "rank-0.lst", [](Writer& writer) {
    const trace::LaneId memory = writer.add_lane({LaneKind::counter, 1, 0, 0, "memory allocated"});
    const trace::LaneId loss = writer.add_lane({LaneKind::counter, 1, 0, 0, "loss"});
    writer.append(trace::Counter{memory, 30, 3e9});
    writer.append(trace::Counter{loss, 5, 0.5});
    writer.append(trace::Counter{memory, 10, 1e9});  // another thread's, which was emptied later
  })));
  ASSERT_EQ(import.trace.counters.size(), 2u);
  std::map<std::string, std::vector<std::pair<Nanoseconds, double>>> points;
  for (const CounterTrack& track : import.trace.counters)
    for (const CounterPoint& point : track.points) points[track.name].emplace_back(point.time, point.value);
  EXPECT_THAT(points["memory allocated"], ElementsAre(std::pair(10, 1e9), std::pair(30, 3e9)));
  EXPECT_THAT(points["loss"], ElementsAre(std::pair(5, 0.5)));
}

TEST(RunFile, AnOperationThatWasNotIssuedHasNoLaunchWhereOthersWere) {
  const TemporaryFolder folder;
  const RankImport import = must(import_file(write_file(folder, "rank-0.lst", [](Writer& writer) {
    const trace::LaneId host = writer.add_lane({LaneKind::host_thread, 1, 1, 0, ""});
    const trace::LaneId lane = writer.add_lane({LaneKind::communication, 1, 2, 0, ""});
    writer.append(trace::ApiCall{host, 10, 12, writer.intern("all_reduce"), 7});
    for (const trace::CorrelationId issued : {trace::CorrelationId{7}, trace::CorrelationId{8}}) {
      trace::Collective event;
      event.lane = lane;
      event.begin = 20 + 10 * static_cast<Nanoseconds>(issued);
      event.end = event.begin + 5;
      event.operation = Operation::all_reduce;
      event.correlation = issued;
      writer.append(event);
    }
  })));
  EXPECT_EQ(import.trace.activities.at(0).launch_end, 12);
  EXPECT_EQ(import.trace.activities.at(1).launch_end, kUnknownTime);
}

// A program that follows its GPU by events shows what the GPU did a second time, and later.
void write_what_follows(Writer& writer) {
  const trace::LaneId compute = writer.add_lane({LaneKind::compute_thread, 1, 1, 0, "cuda device"});
  writer.append(trace::DeviceActivity{compute, 0, 90, writer.intern("forward layer 0"),
                                      trace::ActivityClass::compute, trace::kNoCorrelation, 0});
  trace::Collective collective;
  collective.begin = 95;
  collective.end = 100;
  for (const auto& [lane, name] :
       {std::pair("fsdp (by events)", "all_gather layer 0"), std::pair("gloo", "barrier")}) {
    collective.lane = writer.add_lane({LaneKind::communication, 1, 2, 0, lane});
    collective.name = writer.intern(name);
    writer.append(collective);
  }
}

std::vector<std::string> activities_of(void (*write)(Writer&)) {
  const TemporaryFolder folder;
  const RankImport import = must(import_file(write_file(folder, "rank-0.lst", write)));
  std::vector<std::string> names;
  for (const Activity& activity : import.trace.activities)
    names.emplace_back(import.strings.view(activity.name));
  return names;
}

TEST(RunFile, WhatFollowsAGpuIsLeftOutWhereItsKernelsAreKnown) {
  EXPECT_THAT(activities_of(write_what_follows),
              testing::UnorderedElementsAre("forward layer 0", "all_gather layer 0", "barrier"));
  EXPECT_THAT(
      activities_of([](Writer& writer) {
        write_what_follows(writer);
        const trace::LaneId stream = writer.add_lane({LaneKind::device_stream, 1, 7, 0, "GPU 0 stream 7"});
        writer.append(trace::DeviceActivity{stream, 40, 50, writer.intern("matmul"),
                                            trace::ActivityClass::compute, trace::kNoCorrelation, 0});
      }),
      testing::UnorderedElementsAre("matmul", "barrier"));
}

// A rank with a GPU, as CUPTI's records become one: kernels by class, copies and waits on the streams' lanes,
// launches by correlation, all nodes of a graph by one.
TEST(RunFile, KernelsOfAGpuAreJoinedToTheirLaunches) {
  const TemporaryFolder folder;
  const RankImport import = must(import_file(write_file(folder, "rank-1.lst", [](Writer& writer) {
    writer.set_metadata("rank", "1");
    writer.set_metadata("cuda.device.3.uuid", "GPU-3");
    const trace::LaneId host = writer.add_lane({LaneKind::host_thread, 1, 1, 0, "main"});
    const trace::LaneId stream = writer.add_lane({LaneKind::device_stream, 1, 7, 3, "GPU 3 stream 7"});
    const trace::LaneId nccl = writer.add_lane({LaneKind::device_stream, 1, 20, 3, "GPU 3 stream 20"});
    const trace::LaneId waits =
        writer.add_lane({LaneKind::device_stream, 1, 0xFFFFFFFF, 3, "GPU 3 synchronization"});
    writer.append(trace::Step{host, 1000, 2000, 4});
    using trace::ActivityClass;
    const auto call = [&](Nanoseconds begin, const char* name, std::uint64_t correlation) {
      writer.append(trace::ApiCall{host, begin, begin + 5, writer.intern(name), correlation});
    };
    const auto run = [&](trace::LaneId lane, Nanoseconds begin, const char* name,
                         ActivityClass activity_class, std::uint64_t correlation) {
      writer.append(trace::DeviceActivity{lane, begin, begin + 50, writer.intern(name), activity_class,
                                          correlation, 0});
    };
    call(1010, "cudaLaunchKernel", 11);
    call(1020, "cudaLaunchKernelExC", 12);
    call(1030, "cudaLaunchKernel", 13);
    call(1040, "cudaMemcpyAsync", 14);
    call(1050, "cudaGraphLaunch", 15);
    run(stream, 1100, "matmul(float*, int)", ActivityClass::compute, 11);
    run(nccl, 1150, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", ActivityClass::collective, 12);
    run(nccl, 1250, "ncclDevKernel_SendRecv(x)", ActivityClass::p2p, 13);
    run(stream, 1300, "Memcpy HtoD (Pinned -> Device)", ActivityClass::copy, 14);
    run(waits, 1320, "Stream Synchronize (stream 7)", ActivityClass::sync, 0);
    run(stream, 1400, "node", ActivityClass::compute, 15);
    run(stream, 1450, "node", ActivityClass::compute, 15);
    run(stream, 1500, "launched before recording", ActivityClass::compute, 9);
  })));
  const RankTrace& trace = import.trace;
  EXPECT_EQ(trace.device, "cuda:3");
  EXPECT_EQ(trace.device_uuid, "GPU-3");
  std::vector<std::pair<Class, Nanoseconds>> found;
  for (const Activity& activity : trace.activities)
    found.emplace_back(activity.activity_class, activity.launch_begin);
  EXPECT_THAT(found, ElementsAre(std::pair(Class::compute, 1010), std::pair(Class::collective, 1020),
                                 std::pair(Class::p2p, 1030), std::pair(Class::copy, 1040),
                                 std::pair(Class::sync, kUnknownTime), std::pair(Class::compute, 1050),
                                 std::pair(Class::compute, 1050), std::pair(Class::compute, kUnknownTime)));
  ASSERT_EQ(trace.communications.size(), 2u);
  EXPECT_EQ(trace.communications[0].operation, Operation::all_reduce);
  EXPECT_EQ(trace.communications[1].operation, Operation::send_recv);
  EXPECT_FALSE(trace.communications[0].has_metadata);
  EXPECT_EQ(trace.activities[5].step, 0u);
}

}  // namespace
}  // namespace lockstep::analyzer::run

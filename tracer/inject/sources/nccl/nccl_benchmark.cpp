// What the profiler plugin costs the thread that calls NCCL: all events of one all-reduce as libnccl 2.28
// makes them (the call and its group, the launch of the kernel, the operation and its batch: five pairs of
// start and stop), one pair that is recorded, and one that is not. Nanoseconds, in bursts that the ring
// holds. The baseline is the stand-in's own cost with a table that does nothing.
#include <benchmark/benchmark.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "tests/temporary_folder.h"
#include "trace/reader.h"
#include "tracer/inject/core/tracer.h"
#include "tracer/inject/sources/nccl/stand_in/libnccl.h"

namespace {

using namespace lockstep::tracer;  // NOLINT(google-build-using-namespace)
using World = nccl::stand_in::Communicator<nccl::abi::TableV5>;
using Descriptor = nccl::abi::DescriptorV5;

constexpr int kBurst = 300;

int do_nothing_init(void**, std::uint64_t, std::int32_t*, const char*, std::int32_t, std::int32_t,
                    std::int32_t, void*) {
  return 0;
}
int do_nothing_start(void*, void** handle, Descriptor*) {
  *handle = nullptr;
  return 0;
}
int do_nothing_stop(void*) {
  return 0;
}
int do_nothing_state(void*, std::int32_t, nccl::abi::StateV4*) {
  return 0;
}
nccl::abi::TableV5 do_nothing = {"nothing",       do_nothing_init,  do_nothing_start,
                                 do_nothing_stop, do_nothing_state, do_nothing_stop};

template <class Body>
void in_bursts(benchmark::State& state, Body body) {
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kBurst; ++i) body();
    const auto end = std::chrono::steady_clock::now();
    state.SetIterationTime(std::chrono::duration<double>(end - begin).count() / kBurst);
    usleep(2000);  // the writer thread empties the ring
  }
}

void whole_all_reduce(benchmark::State& state, nccl::abi::TableV5& table) {
  World world(table, 1, 0, 8, "benchmark");
  const std::vector<std::vector<nccl::stand_in::Call>> calls{{{"AllReduce", 1000, 7, 0}}};
  in_bursts(state, [&] { benchmark::DoNotOptimize(world.issue(calls)); });
}

void one_pair(benchmark::State& state, std::uint32_t type) {
  const World world(ncclProfiler_v5, 1, 0, 8, "benchmark");
  Descriptor event{};
  event.type = type;
  if (type == nccl::abi::kCollective)
    event.details.collective = {1,  "AllReduce", nullptr, nullptr,  1000,   0, "ncclBfloat16",
                                24, 16,          "RING",  "SIMPLE", nullptr};
  in_bursts(state, [&] {
    void* handle = nullptr;
    ncclProfiler_v5.start_event(world.context(), &handle, &event);
    ncclProfiler_v5.stop_event(handle);
    benchmark::DoNotOptimize(handle);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const lockstep::test::TemporaryFolder folder;
  setenv("LOCKSTEP_RUN", folder.path().c_str(), 1);
  setenv("RANK", "0", 1);
  setenv("LOCKSTEP_BUFFER_SIZE", "1073741824", 1);  // a busy machine may keep the writer thread waiting
  const auto add = [](const char* name, auto body) {
    benchmark::RegisterBenchmark(name, body)
        ->UseManualTime()
        ->Iterations(500)
        ->Repetitions(5)
        ->ReportAggregatesOnly();
  };
  add("all_reduce/table_that_does_nothing",
      [](benchmark::State& state) { whole_all_reduce(state, do_nothing); });
  add("all_reduce/recorded", [](benchmark::State& state) { whole_all_reduce(state, ncclProfiler_v5); });
  add("pair/operation", [](benchmark::State& state) { one_pair(state, nccl::abi::kCollective); });
  add("pair/launch", [](benchmark::State& state) { one_pair(state, nccl::abi::kKernelLaunch); });
  add("pair/call", [](benchmark::State& state) { one_pair(state, nccl::abi::kGroupCall); });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  Tracer::instance().shut_down();
  // A dropped event would be cheaper than a recorded one.
  const auto reader = lockstep::trace::Reader::open(folder.path() / "rank-0.lst");
  const bool dropped = reader.ok() && reader.value().count(lockstep::trace::EventKind::drop) != 0;
  if (!reader.ok() || dropped) std::fprintf(stderr, "events were dropped: the figures mean nothing\n");
  return reader.ok() && !dropped ? 0 : 1;
}

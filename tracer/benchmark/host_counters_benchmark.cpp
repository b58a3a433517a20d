// What the host source costs the recorded process: processor time of its own thread a second, which is ten
// samples. `cpu_percent` is that share of one core.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "tracer/inject/sources/host/node_meter.h"
#include "tracer/inject/sources/host/process_meter.h"
#include "tracer/inject/sources/host/sampler.h"

namespace {

using namespace lockstep::tracer::host;

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void read_meter(benchmark::State& state, Meter& meter) {
  std::vector<Quantity> quantities;
  meter.describe(quantities);
  Readings readings;
  const double start = thread_seconds();
  for (auto _ : state) {
    readings = {};
    meter.read(readings.data());
    benchmark::DoNotOptimize(readings);
  }
  constexpr double kSamplesASecond = 1000.0 / Sampler::kIntervalMilliseconds;
  const double each = (thread_seconds() - start) / static_cast<double>(state.iterations());
  state.counters["cpu_percent"] = each * kSamplesASecond * 100;
  state.counters["quantities"] = static_cast<double>(quantities.size());
}

void process(benchmark::State& state) {
  ProcessMeter meter;
  read_meter(state, meter);
}
BENCHMARK(process);

void node(benchmark::State& state) {
  NodeMeter meter;
  read_meter(state, meter);
}
BENCHMARK(node);

// The threads of a process with so many of them.
void threads(benchmark::State& state) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> others;
  for (std::int64_t i = 1; i < state.range(0); ++i) {
    others.emplace_back([&] { stop.wait(false); });
  }
  ThreadMeter meter;
  read_meter(state, meter);
  stop = true;
  stop.notify_all();
  for (std::thread& other : others) other.join();
}
BENCHMARK(threads)->Arg(1)->Arg(32)->Arg(500)->Arg(2000);

}  // namespace

BENCHMARK_MAIN();

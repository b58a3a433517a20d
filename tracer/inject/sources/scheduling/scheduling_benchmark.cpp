// What looking at the training threads costs the recorded process: processor time of the sampling thread.
// `cpu_percent` is its share of one core at ten milliseconds a look; beside it what the process has anyway, a
// thread that wakes up so often and does nothing.
#include <benchmark/benchmark.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tracer/inject/core/training_threads.h"
#include "tracer/inject/sources/scheduling/run_sampler.h"
#include "tracer/inject/sources/scheduling/thread_times.h"
#include "tracer/protocol/clock.h"

namespace {

using namespace lockstep::tracer;
using namespace lockstep::tracer::scheduling;

double own_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void note(benchmark::State& state, double seconds) {
  const double each = seconds / static_cast<double>(state.iterations());
  state.counters["cpu_percent"] = each * 1000.0 / RunSampler::kInterval * 100;
}

// A thread that sleeps: followed by its clock alone.
void look_at_sleepers(benchmark::State& state) {
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> ready{0};
  forget_training_threads();
  std::vector<std::thread> threads;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    threads.emplace_back([&] {
      note_training_thread(static_cast<std::uint32_t>(gettid()));
      ++ready;
      stop.wait(false);
    });
  }
  while (ready.load() < state.range(0)) std::this_thread::yield();
  RunSampler sampler;
  const double start = own_seconds();
  for (auto _ : state) {
    sampler.look(static_cast<lockstep::trace::Nanoseconds>(read_monotonic()));
    RunInterval interval;
    while (sampler.fetch(interval)) benchmark::DoNotOptimize(interval);
  }
  note(state, own_seconds() - start);
  stop = true;
  stop.notify_all();
  for (std::thread& one : threads) one.join();
  forget_training_threads();
}
BENCHMARK(look_at_sleepers)->Arg(1)->Arg(8)->Arg(48);

void read_the_clock_of_a_thread(benchmark::State& state) {
  const auto thread = static_cast<std::uint32_t>(gettid());
  const double start = own_seconds();
  for (auto _ : state) benchmark::DoNotOptimize(read_on_cpu(thread));
  note(state, own_seconds() - start);
}
BENCHMARK(read_the_clock_of_a_thread);

// Of each thread that runs for a part of the time, or again.
void read_the_wait_of_a_thread(benchmark::State& state) {
  const auto thread = static_cast<std::uint32_t>(gettid());
  const double start = own_seconds();
  for (auto _ : state) benchmark::DoNotOptimize(read_waited(thread));
  note(state, own_seconds() - start);
}
BENCHMARK(read_the_wait_of_a_thread);

void wake_up_and_do_nothing(benchmark::State& state) {
  const double start = own_seconds();
  const timespec moment{0, 100'000};
  for (auto _ : state) nanosleep(&moment, nullptr);
  note(state, own_seconds() - start);
}
BENCHMARK(wake_up_and_do_nothing)->Iterations(2000);

}  // namespace

BENCHMARK_MAIN();

// Interval operations on two sets of a million intervals that interleave, as compute and communication of a
// rank do.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/intervals/sweep.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kCount = 1'000'000;

IntervalSet random_set(unsigned seed) {
  std::mt19937 random(seed);
  IntervalSet set;
  Nanoseconds now = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    now += 1 + static_cast<Nanoseconds>(random() % 1000);
    const Nanoseconds end = now + 1 + static_cast<Nanoseconds>(random() % 5000);
    set.append(now, end);
    now = end;
  }
  return set;
}

void count_intervals(benchmark::State& state) {
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * 2 * kCount));
}

void append(benchmark::State& state) {
  const IntervalSet set = random_set(1);
  for (auto _ : state) {
    IntervalSet copy;
    for (const Interval& interval : set.intervals()) copy.append(interval.begin, interval.end);
    benchmark::DoNotOptimize(copy);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kCount));
}
BENCHMARK(append)->Unit(benchmark::kMillisecond);

template <IntervalSet (*operation)(const IntervalSet&, const IntervalSet&)>
void combine(benchmark::State& state) {
  const IntervalSet a = random_set(1), b = random_set(2);
  for (auto _ : state) benchmark::DoNotOptimize(operation(a, b));
  count_intervals(state);
}
BENCHMARK(combine<unite>)->Unit(benchmark::kMillisecond);
BENCHMARK(combine<intersect>)->Unit(benchmark::kMillisecond);
BENCHMARK(combine<subtract>)->Unit(benchmark::kMillisecond);

void sweep_two(benchmark::State& state) {
  const IntervalSet a = random_set(1), b = random_set(2);
  for (auto _ : state) {
    std::int64_t both = 0;
    sweep<2>({&a, &b}, 0, a.intervals().back().end,
             [&](Nanoseconds begin, Nanoseconds end, unsigned covered) {
               if (covered == 3) both += end - begin;
             });
    benchmark::DoNotOptimize(both);
  }
  count_intervals(state);
}
BENCHMARK(sweep_two)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lockstep::analyzer

BENCHMARK_MAIN();

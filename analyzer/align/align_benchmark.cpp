// Clocks of 1,024 ranks, each its own, from the order of 200 collectives: with matching, and the solution
// alone.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>

#include "analyzer/align/align.h"
#include "analyzer/align/precedence.h"
#include "analyzer/align/solve.h"
#include "analyzer/match/match.h"
#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {
namespace {

Job make_job(std::uint32_t ranks) {
  JobBuilder builder;
  std::mt19937 random(1);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    RankBuilder& row = builder.rank(static_cast<int>(rank));
    const Nanoseconds ahead = random() % 1'000'000'000;
    for (int i = 0; i < 200; ++i) {
      const Nanoseconds begin = ahead + i * 1'000'000;
      row.all_reduce(begin + static_cast<Nanoseconds>(random() % 40'000), begin + 60'000);
    }
  }
  Job job = builder.build();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    job.ranks[rank].clock.domain = rank;
    job.ranks[rank].clock.related = rank == 0;
  }
  return job;
}

void align(benchmark::State& state) {
  const Job job = make_job(static_cast<std::uint32_t>(state.range(0)));
  for (auto _ : state) {
    state.PauseTiming();
    Job copy = job;
    state.ResumeTiming();
    align_clocks(copy);
    benchmark::DoNotOptimize(copy);
  }
  state.counters["collectives_s"] = benchmark::Counter(
      static_cast<double>(state.range(0) * 200 * state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(align)->RangeMultiplier(4)->Range(16, 1024)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lockstep::analyzer

BENCHMARK_MAIN();

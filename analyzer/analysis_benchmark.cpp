// analyze() on a job of ten million activities: 8 ranks, 100 steps, kernels on two streams with launches, 40
// collectives a step. Also reports the extra memory at its peak (VmHWM), per activity; for that it runs
// alone, once. And the same of 64, 256 and 1,024 ranks of 20,000 activities each: time and memory an activity
// tell whether both grow in proportion.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/analysis.h"

namespace lockstep::analyzer {
namespace {

constexpr std::int32_t kFewRanks = 8;
constexpr std::int64_t kSteps = 100;

// "VmHWM" or "VmRSS" of this process, in bytes.
std::int64_t memory_of(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(key + ":", 0) == 0) return std::stoll(line.substr(key.size() + 1)) * 1024;
  }
  return 0;
}

// Kernels of 1 to 9 µs with small gaps; every tenth goes to a second stream and overlaps; a rank runs 0 to 3
// % slower.
RankTrace make_rank(std::int32_t number, std::int64_t activities, std::int64_t collectives_per_step,
                    StringTable& strings) {
  std::mt19937 random(static_cast<unsigned>(number));
  RankTrace rank;
  rank.rank = number;
  rank.lanes.resize(2);
  const std::int64_t per_step = activities / kSteps;
  rank.activities.reserve(static_cast<std::size_t>(per_step * kSteps));
  std::uint32_t names[16];
  for (int i = 0; i < 16; ++i) names[i] = strings.intern("kernel " + std::to_string(i));
  Nanoseconds now = 1000;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    const Nanoseconds step_begin = now - 900;
    for (std::int64_t i = 0; i < per_step; ++i) {
      Activity activity;
      activity.begin = now;
      activity.end = now + 1000 + static_cast<Nanoseconds>(random() % 8000) * (100 + number % 4) / 100;
      activity.launch_end = now - static_cast<Nanoseconds>(random() % 600);
      activity.launch_begin = activity.launch_end - 200;
      activity.name = names[random() % 16];
      activity.step = static_cast<std::uint32_t>(step);
      if (i % (per_step / collectives_per_step) == per_step / collectives_per_step - 1) {
        Communication communication;
        communication.activity = static_cast<std::uint32_t>(rank.activities.size());
        communication.group = 0;
        communication.sequence = static_cast<std::int64_t>(rank.communications.size());
        communication.operation = Operation::all_reduce;
        communication.bytes = 1 << 20;
        activity.activity_class = Class::collective;
        activity.communication = static_cast<std::uint32_t>(rank.communications.size());
        activity.end += 80'000'000 / collectives_per_step;  // long enough for all to meet
        rank.communications.push_back(communication);
      }
      rank.activities.push_back(activity);
      now = i % 10 == 0 ? now + 500
                        : std::max(now + 1, std::min(activity.end, now + 9000) +
                                                static_cast<Nanoseconds>(random() % 1500));
    }
    rank.steps.push_back({step, step_begin, now - 901});
  }
  return rank;
}

Job make_job(std::int32_t ranks, std::int64_t activities, std::int64_t collectives_per_step) {
  Job job;
  job.world_size = ranks;
  std::vector<std::int32_t> all;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    all.push_back(rank);
    job.ranks.push_back(make_rank(rank, activities, collectives_per_step, job.strings));
  }
  job.groups.push_back({"dp", "", std::move(all)});
  return job;
}

void analyze_made(benchmark::State& state, const Job& job, const AnalysisOptions& options) {
  std::size_t activities = 0;
  for (const RankTrace& rank : job.ranks) activities += rank.activities.size();
  const std::int64_t before = memory_of("VmRSS");
  for (auto _ : state) {
    const Result<Analysis> analysis = analyze(job, options);
    if (!analysis.ok()) state.SkipWithError(analysis.error().message.c_str());
    benchmark::DoNotOptimize(analysis);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * activities));
  state.counters["extra_bytes_per_activity"] =
      static_cast<double>(memory_of("VmHWM") - before) / static_cast<double>(activities);
}

void analyze_job(benchmark::State& state) {
  AnalysisOptions options;
  options.keep_segments = state.range(1) != 0;
  analyze_made(state, make_job(kFewRanks, state.range(0) / kFewRanks, state.range(2)), options);
}
BENCHMARK(analyze_job)
    ->Args({10'000'000, 0, 40})
    ->Args({10'000'000, 1, 40})
    ->Args({10'000'000, 0, 1250})
    ->ArgNames({"activities", "segments", "collectives"})
    ->Unit(benchmark::kMillisecond);

void analyze_ranks(benchmark::State& state) {
  AnalysisOptions options;
  options.keep_segments = false;
  analyze_made(state, make_job(static_cast<std::int32_t>(state.range(0)), 20'000, 20), options);
}
BENCHMARK(analyze_ranks)->Arg(64)->Arg(256)->Arg(1024)->ArgName("ranks")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lockstep::analyzer

BENCHMARK_MAIN();

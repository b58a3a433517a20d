#include "viewer/testing/training_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

#include "analyzer/model/job_builder.h"

namespace lockstep::viewer {

using trace::Nanoseconds;

namespace {

constexpr Nanoseconds kMicrosecond = 1'000;
constexpr Nanoseconds kMillisecond = 1'000'000;
constexpr int kLayers = 12;
constexpr int kLayersOfBucket = 3;
constexpr int kBuckets = kLayers / kLayersOfBucket;
constexpr Nanoseconds kLaunch = 8 * kMicrosecond;

// A rank on its way through the job.
struct Worker {
  Nanoseconds host = 0;     // when its host thread is free again
  Nanoseconds compute = 0;  // and its streams
  Nanoseconds network = 0;
  std::mt19937 random;

  // Within 4 % of `length`. (Not by a distribution, whose numbers differ between libraries.)
  Nanoseconds about(Nanoseconds length) {
    return length + length * (static_cast<Nanoseconds>(random() % 81) - 40) / 1000;
  }
};

class Training {
 public:
  explicit Training(const TrainingOptions& options)
      : options_(options), workers_(static_cast<std::size_t>(options.ranks)) {
    std::vector<std::int32_t> all;
    for (std::int32_t rank = 0; rank < options_.ranks; ++rank) {
      all.push_back(rank);
      workers_[static_cast<std::size_t>(rank)].random.seed(static_cast<std::uint32_t>(rank) + 1);
      analyzer::RankTrace& trace = job_.rank(rank).trace();
      trace.host = rank < options_.ranks / 2 ? "node0" : "node1";
      trace.device = fmt::format("cuda:{}", rank % std::max(1, options_.ranks / 2));
      trace.file = fmt::format("rank-{}.json", rank);
      trace.lanes = {{trace::LaneKind::host_thread, 1, "main"},
                     {trace::LaneKind::device_stream, 7, "stream 7"},
                     {trace::LaneKind::device_stream, 20, "stream 20"}};
    }
    group_ = job_.group("dp", all);
  }

  analyzer::Job run() {
    for (std::int64_t step = 0; step < options_.steps; ++step) one_step(step);
    analyzer::Job job = job_.build();
    job.path = options_.path;
    job.sources = {"lockstep"};
    for (analyzer::RankTrace& rank : job.ranks) {
      if (rank.host == "node0") continue;
      rank.clock.domain = 1;
      rank.clock.uncertainty_ns = 40 * kMicrosecond;
      rank.clock.evidence = "exchanges";
    }
    return job;
  }

 private:
  analyzer::RankBuilder& builder(std::size_t rank) { return job_.rank(static_cast<std::int32_t>(rank)); }

  // One kernel, launched when the host is free, run when the stream is.
  Nanoseconds kernel(std::size_t rank, const std::string& name, Nanoseconds length) {
    Worker& worker = workers_[rank];
    const Nanoseconds begin = std::max(worker.compute, worker.host + kLaunch);
    builder(rank).compute(begin, begin + length, name).launched(worker.host, worker.host + kLaunch);
    worker.host += kLaunch;
    return worker.compute = begin + length;
  }

  // All ranks' part of one bucket, which rank r has ready at ready[r].
  void all_reduce(int bucket, const std::vector<Nanoseconds>& ready) {
    std::vector<Nanoseconds> begins;
    for (std::size_t rank = 0; rank < workers_.size(); ++rank)
      begins.push_back(std::max(ready[rank], workers_[rank].network) + 20 * kMicrosecond);
    const auto transfer = static_cast<Nanoseconds>(
        static_cast<double>(3 * kMillisecond + bucket * 300 * kMicrosecond) * options_.link_slowness);
    const Nanoseconds end = *std::max_element(begins.begin(), begins.end()) + transfer;
    for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
      builder(rank)
          .all_reduce(begins[rank], end + static_cast<Nanoseconds>(rank) * kMicrosecond)
          .named("ncclDevKernel_AllReduce_Sum_f32_RING_LL")
          .launched(begins[rank] - 20 * kMicrosecond, begins[rank] - 12 * kMicrosecond)
          .in_group(group_)
          .sequence(sequence_)
          .of(trace::DataType::float32)
          .bytes(25'000'000);
      builder(rank).trace().activities.back().lane = 2;
      workers_[rank].network = end;
    }
    ++sequence_;
  }

  void load(std::size_t rank, std::int64_t step) {
    Worker& worker = workers_[rank];
    const bool late = static_cast<std::int32_t>(rank) == options_.late_loader && step == options_.late_step;
    const Nanoseconds loaded = worker.host + worker.about(kMillisecond) + (late ? 12 * kMillisecond : 0);
    builder(rank).data_loading(worker.host, loaded);
    builder(rank).trace().host_ranges.back().depth = 1;
    worker.host = loaded;
    const Nanoseconds begin = std::max(worker.host + kLaunch, worker.compute);
    builder(rank).copy(begin, begin + 400 * kMicrosecond).launched(worker.host, worker.host + kLaunch);
    worker.compute = begin + 400 * kMicrosecond;
  }

  void one_step(std::int64_t step) {
    std::vector<Nanoseconds> begins;
    for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
      Worker& worker = workers_[rank];
      begins.push_back(worker.host);
      load(rank, step);
      const auto loaded = worker.host;
      for (int layer = 0; layer < kLayers; ++layer)
        kernel(rank, fmt::format("forward layer {}", layer), worker.about(slowed(rank, step, kMillisecond)));
      builder(rank).host_range(loaded, worker.host, "forward", 1);
      builder(rank).counter("memory allocated", worker.compute, 2e10 + 4e9);
    }
    std::vector<Nanoseconds> backward;
    for (const Worker& worker : workers_) backward.push_back(worker.host);
    for (int bucket = 0; bucket < kBuckets; ++bucket) {
      std::vector<Nanoseconds> ready;
      for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
        for (int i = 0; i < kLayersOfBucket; ++i)
          kernel(rank, fmt::format("backward layer {}", kLayers - 1 - bucket * kLayersOfBucket - i),
                 workers_[rank].about(slowed(rank, step, 2 * kMillisecond)));
        ready.push_back(workers_[rank].compute);
      }
      all_reduce(bucket, ready);
    }
    for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
      Worker& worker = workers_[rank];
      builder(rank).host_range(backward[rank], worker.host, "backward", 1);
      worker.compute = std::max(worker.compute, worker.network);
      const Nanoseconds waits = worker.host;
      const Nanoseconds end = kernel(rank, "fused_adamw", worker.about(900 * kMicrosecond));
      builder(rank).host_range(waits, end, "optimizer", 1);
      worker.host = end;
      builder(rank).step(step, begins[rank], end);
      builder(rank).host_range(begins[rank], end, fmt::format("step {}", step), 0);
      builder(rank).trace().host_ranges.back().kind = analyzer::HostKind::step;
      builder(rank).counter("memory allocated", end, 2e10);
    }
  }

  Nanoseconds slowed(std::size_t rank, std::int64_t step, Nanoseconds length) const {
    const bool slow = static_cast<std::int32_t>(rank) == options_.slow_rank && step >= options_.slow_from;
    return slow ? static_cast<Nanoseconds>(static_cast<double>(length) * options_.slow_factor) : length;
  }

  TrainingOptions options_;
  std::vector<Worker> workers_;
  analyzer::JobBuilder job_;
  std::uint32_t group_ = 0;
  std::int64_t sequence_ = 0;
};

}  // namespace

analyzer::Job training_job(const TrainingOptions& options) {
  analyzer::Job job = Training(options).run();
  for (analyzer::RankTrace& rank : job.ranks) {
    // Outer ranges before inner ones, as importers leave them.
    std::stable_sort(rank.host_ranges.begin(), rank.host_ranges.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.begin, a.depth) < std::tuple(b.begin, b.depth);
    });
    for (analyzer::Activity& activity : rank.activities) {
      const auto after = std::upper_bound(
          rank.steps.begin(), rank.steps.end(), activity.launch_begin,
          [](Nanoseconds time, const analyzer::StepMark& mark) { return time < mark.begin; });
      if (after != rank.steps.begin())
        activity.step = static_cast<std::uint32_t>(after - rank.steps.begin() - 1);
    }
  }
  return job;
}

}  // namespace lockstep::viewer

#include "tests/accuracy/kernel_jobs/job.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "analyzer/model/job_builder.h"

namespace lockstep::accuracy {
namespace {

using analyzer::Nanoseconds;

constexpr std::int32_t kRanksOfHost = 8;
constexpr Nanoseconds kMicrosecond = 1000;
constexpr Nanoseconds kLaunch = 9 * kMicrosecond;
constexpr double kKernelNoise = 0.02, kStepNoise = 0.01;
constexpr double kReduceUs = 80, kReduceAllUs = 600, kOptimizerUs = 400, kOptimizerWarps = 5120;

// Standard normal (Box and Muller 1958).
double normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

Nanoseconds in_ns(double microseconds) {
  return static_cast<Nanoseconds>(std::llround(std::max(1.0, microseconds) * 1000));
}

struct Gpu {
  Nanoseconds host = 0, device = 0;  // until when they are busy
  double pace = 1;                   // in the step at hand
};

class Simulation {
 public:
  Simulation(Random& random, const JobShape& shape) : random_(random), shape_(shape) {
    for (std::int32_t first = 0; shape.tensor_parallel > 1 && first < shape.ranks;
         first += shape.tensor_parallel)
      layer_groups_.push_back(group("tensor parallel", first, 1, first + shape.tensor_parallel));
    for (std::int32_t place = 0; place < shape.tensor_parallel; ++place)
      step_groups_.push_back(group("data parallel", place, shape.tensor_parallel, shape.ranks));
    gpus_.resize(static_cast<std::size_t>(shape.ranks));
  }

  analyzer::Job run(const LayerOf& layer_of, const AfterLayers& after) {
    for (int step = 0; step < shape_.steps; ++step) {
      std::vector<Nanoseconds> begins;
      for (Gpu& gpu : gpus_) {
        begins.push_back(gpu.host);
        gpu.pace = 1 + kStepNoise * normal(random_);
      }
      for (int index = 0; index < shape_.layers; ++index) {
        for (std::int32_t rank = 0; rank < shape_.ranks; ++rank)
          launch(rank, step, layer_of(rank, step, index));
        for (const Group& group : layer_groups_) reduce(group, kReduceUs, step);
      }
      for (std::int32_t rank = 0; after && rank < shape_.ranks; ++rank) launch(rank, step, after(rank, step));
      for (const Group& group : step_groups_) reduce(group, kReduceAllUs, step);
      for (std::int32_t rank = 0; rank < shape_.ranks; ++rank) {
        launch(rank, step, {{"adam", kOptimizerUs, kOptimizerWarps}});
        Gpu& gpu = gpus_[static_cast<std::size_t>(rank)];
        gpu.host = std::max(gpu.host, gpu.device + 5 * kMicrosecond);
        job_.rank(rank).step(step, begins[static_cast<std::size_t>(rank)], gpu.host);
        gpu.host += 20 * kMicrosecond;
      }
    }
    analyzer::Job job = job_.build();
    for (analyzer::RankTrace& rank : job.ranks) {
      rank.host = "node" + std::to_string(rank.rank / kRanksOfHost);
      rank.device = "cuda:" + std::to_string(rank.rank % kRanksOfHost);
      rank.clock.evidence = "same host";
    }
    return job;
  }

 private:
  struct Group {
    std::uint32_t index = 0;
    std::vector<std::int32_t> ranks;
  };

  Group group(const char* description, std::int32_t first, std::int32_t by, std::int32_t end) {
    std::vector<std::int32_t> ranks;
    for (std::int32_t rank = first; rank < end; rank += by) ranks.push_back(rank);
    return {job_.group(std::string(description) + " " + std::to_string(first), ranks, description), ranks};
  }

  void launch(std::int32_t rank, int step, const Kernels& kernels) {
    Gpu& gpu = gpus_[static_cast<std::size_t>(rank)];
    for (const Kernel& kernel : kernels) {
      const Nanoseconds begin = std::max(gpu.device + kMicrosecond, gpu.host + 4 * kMicrosecond);
      gpu.device = begin + in_ns(kernel.takes_us * gpu.pace * (1 + kKernelNoise * normal(random_)));
      const auto warps = static_cast<std::uint32_t>(std::llround(kernel.warps));
      job_.rank(rank).compute(begin, gpu.device, kernel.name).shaped(warps, warps);
      launched(rank, step);
    }
  }

  // All have begun before it ends, as in NCCL.
  void reduce(const Group& group, double takes_us, int step) {
    std::vector<Nanoseconds> begins;
    for (const std::int32_t rank : group.ranks) {
      const Gpu& gpu = gpus_[static_cast<std::size_t>(rank)];
      begins.push_back(std::max(gpu.device + 2 * kMicrosecond, gpu.host + 4 * kMicrosecond));
    }
    const Nanoseconds end = *std::max_element(begins.begin(), begins.end()) +
                            in_ns(takes_us * (1 + kKernelNoise * normal(random_)));
    for (std::size_t i = 0; i < group.ranks.size(); ++i) {
      gpus_[static_cast<std::size_t>(group.ranks[i])].device = end;
      job_.rank(group.ranks[i]).all_reduce(begins[i], end).in_group(group.index);
      launched(group.ranks[i], step);
    }
  }

  void launched(std::int32_t rank, int step) {
    Gpu& gpu = gpus_[static_cast<std::size_t>(rank)];
    job_.rank(rank).launched(gpu.host, gpu.host + kLaunch / 2).in_step(static_cast<std::uint32_t>(step));
    gpu.host += kLaunch;
  }

  Random& random_;
  const JobShape& shape_;
  analyzer::JobBuilder job_;
  std::vector<Group> layer_groups_, step_groups_;
  std::vector<Gpu> gpus_;
};

}  // namespace

Kernels layer(double tokens, double pace) {
  const double share = tokens / kTokens;
  return {{"gemm_128x128", 600 * share * pace, std::ceil(tokens / 128) * 32 * 4},
          {"softmax_forward", 150 * share * pace, std::ceil(tokens / 4) * 4},
          {"gemm_64x64", 900 * share * pace, std::ceil(tokens / 64) * 16 * 4},
          {"elementwise_add", 250 * share * pace, std::ceil(tokens / 2) * 4}};
}

double varying_tokens(Random& random, double spread, int padded_to) {
  const double tokens = kTokens * std::exp(spread * normal(random));
  return padded_to * std::max(1.0, std::round(tokens / padded_to));
}

analyzer::Job simulate_kernels(Random& random, const JobShape& shape, const LayerOf& layer_of,
                               const AfterLayers& after) {
  return Simulation(random, shape).run(layer_of, after);
}

}  // namespace lockstep::accuracy

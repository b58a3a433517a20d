// Batches of unequal size.
#include <array>

#include "tests/accuracy/about.h"
#include "tests/accuracy/cases.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

// Another rank in each step has half as much again to compute, and a counter says so.
Job larger_batches_in_turn(Random& random) {
  constexpr int kSteps = 24;
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    CounterTrack tokens{"tokens", {}};
    for (int step = 0; step < kSteps; ++step) {
      const Nanoseconds begin = step * 1000 * us;
      const bool larger = rank == step * 7 % 4;
      const Nanoseconds end = begin + about(random, larger ? 600 : 400);
      job.rank(rank).step(step, begin, begin + 999 * us);
      job.rank(rank).compute(begin, end).launched(begin, begin + 1);
      job.rank(rank).all_reduce(end, begin + 900 * us).launched(begin, begin + 2);
      tokens.points.push_back({begin + 950 * us, larger ? 6144.0 : 4096.0});
    }
    job.rank(rank).trace().counters.push_back(tokens);
  }
  return job.build();
}

// Batches come in four sizes, another for each rank in turn, and kernels are launched as large as they need.
// No counter tells.
Job larger_launches_in_turn(Random& random) {
  constexpr int kSteps = 24;
  constexpr int kRanks = 4;
  JobBuilder job;
  for (std::int32_t rank = 0; rank < kRanks; ++rank) {
    for (int step = 0; step < kSteps; ++step) {
      const Nanoseconds begin = step * 1000 * us;
      const int size = (rank + step * 7) % kRanks;
      const Nanoseconds middle = begin + about(random, 200 + 30 * size);
      const Nanoseconds end = middle + about(random, 200 + 30 * size);
      job.rank(rank).step(step, begin, begin + 999 * us);
      const auto warps = static_cast<std::uint32_t>(8 * (200 + 30 * size));
      job.rank(rank).compute(begin, middle, "gemm").shaped(warps, warps).launched(begin, begin + 1);
      job.rank(rank).in_step(static_cast<std::uint32_t>(step));
      job.rank(rank).compute(middle, end, "softmax").shaped(warps, warps).launched(begin, begin + 2);
      job.rank(rank).in_step(static_cast<std::uint32_t>(step));
      job.rank(rank).all_reduce(end, begin + 900 * us).launched(begin, begin + 3);
    }
  }
  Job built = job.build();
  for (RankTrace& rank : built.ranks) rank.device = "cuda:0";
  return built;
}

constexpr auto kUnevenBatchesCases = std::to_array<KindCase>({
    {"uneven_batches", larger_batches_in_turn, 20},
    {"uneven_batches", larger_launches_in_turn, 21, "launch sizes of kernels"},
});

}  // namespace

const Planted planted::uneven_batches{.cases = kUnevenBatchesCases};

}  // namespace lockstep::accuracy

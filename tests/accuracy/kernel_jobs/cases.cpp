#include "tests/accuracy/kernel_jobs/cases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "tests/accuracy/kernel_jobs/job.h"

namespace lockstep::accuracy {
namespace {

using analyzer::Job;

constexpr double kLonger = 1.2;

JobShape shape_of(Random& random, std::int32_t ranks) {
  return {.ranks = ranks,
          .steps = 30 + static_cast<int>(random.below(51)),
          .layers = 3 + static_cast<int>(random.below(3))};
}

// Replicas of tensor-parallel pairs.
JobShape pairs_of(Random& random, std::int32_t ranks) {
  JobShape shape = shape_of(random, ranks);
  shape.tensor_parallel = 2;
  return shape;
}

bool is_last(std::int32_t rank, std::int32_t ranks, std::int32_t count = 1) {
  return rank >= ranks - count;
}

// A number by rank and step, drawn step after step.
class Drawn {
 public:
  template <class Draw>
  Drawn(const JobShape& shape, Draw draw) : ranks_(static_cast<std::size_t>(shape.ranks)) {
    numbers_.resize(ranks_ * static_cast<std::size_t>(shape.steps));
    std::generate(numbers_.begin(), numbers_.end(), draw);
  }
  double operator()(std::int32_t rank, int step) const {
    return numbers_.at(static_cast<std::size_t>(step) * ranks_ + static_cast<std::size_t>(rank));
  }

 private:
  std::size_t ranks_;
  std::vector<double> numbers_;
};

Drawn tokens_of_batches(Random& random, const JobShape& shape, double spread, int padded_to) {
  return {shape, [&] { return varying_tokens(random, spread, padded_to); }};
}

// How much longer than usual a GPU takes.
Drawn paces(Random& random, const JobShape& shape) {
  return {shape, [&] { return random.uniform(1, 1.22); }};
}

Job all_alike(Random& random, std::int32_t ranks) {
  return simulate_kernels(random, shape_of(random, ranks), [](int, int, int) { return layer(kTokens); });
}

Job paces_that_vary(Random& random, std::int32_t ranks) {
  const JobShape shape = shape_of(random, ranks);
  const Drawn pace = paces(random, shape);
  return simulate_kernels(random, shape,
                          [&](int rank, int step, int) { return layer(kTokens, pace(rank, step)); });
}

// Beside that, the last rank counts something in two steps.
Job two_steps_with_more(Random& random, std::int32_t ranks) {
  const JobShape shape = shape_of(random, ranks);
  const Drawn pace = paces(random, shape);
  return simulate_kernels(
      random, shape, [&](int rank, int step, int) { return layer(kTokens, pace(rank, step)); },
      [&](int rank, int step) {
        const bool counts = is_last(rank, ranks) && (step == 11 || step == 24);
        return counts ? Kernels(9, {"histogram", 1000, 8192}) : Kernels();
      });
}

Job same_lengths_for_all(Random& random, std::int32_t ranks) {
  const JobShape shape = shape_of(random, ranks);
  const Drawn tokens = tokens_of_batches(random, shape, 0.3, 256);
  return simulate_kernels(random, shape, [&](int, int step, int) { return layer(tokens(0, step)); });
}

Job slow_gpu(Random& random, std::int32_t ranks) {
  const double pace = random.uniform(1.05, 1.4);
  return simulate_kernels(random, shape_of(random, ranks), [&](int rank, int, int) {
    return layer(kTokens, is_last(rank, ranks) ? pace : 1);
  });
}

// Its library has other kernels for the matrix products.
Job two_other_gpus(Random& random, std::int32_t ranks) {
  return simulate_kernels(random, shape_of(random, ranks), [&](int rank, int, int) {
    if (!is_last(rank, ranks, 2)) return layer(kTokens);
    Kernels kernels = layer(kTokens, kLonger);
    kernels[0].name = "older_gemm_256x64";
    kernels[2].name = "older_gemm_128x64";
    return kernels;
  });
}

// A tuner chose launches twice as large for them, which take longer.
Job two_tuned_otherwise(Random& random, std::int32_t ranks) {
  return simulate_kernels(random, shape_of(random, ranks), [&](int rank, int, int) {
    if (!is_last(rank, ranks, 2)) return layer(kTokens);
    Kernels kernels = layer(kTokens, kLonger);
    for (Kernel& kernel : kernels) kernel.warps *= 2;
    return kernels;
  });
}

// Lengths vary between pairs by a little.
Job a_pair_of_slow_gpus(Random& random, std::int32_t ranks) {
  const JobShape shape = pairs_of(random, ranks);
  const Drawn tokens = tokens_of_batches(random, shape, 0.02, 1);
  return simulate_kernels(random, shape, [&](int rank, int step, int) {
    const double length = tokens(rank / 2, step);
    const double pace = is_last(rank, ranks, 2) ? 1.3 : 1;
    return Kernels{{"row", 1900 * pace * length / kTokens, length * 8}};
  });
}

Job larger_batch(Random& random, std::int32_t ranks, double size) {
  return simulate_kernels(random, shape_of(random, ranks), [&](int rank, int, int) {
    return layer(is_last(rank, ranks) ? size * kTokens : kTokens);
  });
}
Job twentieth_larger_batch(Random& random, std::int32_t ranks) {
  return larger_batch(random, ranks, 1.05);
}
Job tenth_larger_batch(Random& random, std::int32_t ranks) {
  return larger_batch(random, ranks, 1.1);
}
Job fifth_larger_batch(Random& random, std::int32_t ranks) {
  return larger_batch(random, ranks, kLonger);
}

Job half_of_the_layers_larger(Random& random, std::int32_t ranks) {
  JobShape shape = shape_of(random, ranks);
  shape.layers = 4;
  return simulate_kernels(random, shape, [&](int rank, int, int index) {
    return layer(is_last(rank, ranks) && index % 2 == 1 ? 1.4 * kTokens : kTokens);
  });
}

Job one_layer_more(Random& random, std::int32_t ranks) {
  return simulate_kernels(
      random, shape_of(random, ranks), [](int, int, int) { return layer(kTokens); },
      [&](int rank, int) { return is_last(rank, ranks) ? layer(kTokens) : Kernels(); });
}

// As large a launch as the GPU holds, whatever the work.
Job larger_batch_for_persistent_kernels(Random& random, std::int32_t ranks) {
  return simulate_kernels(random, shape_of(random, ranks), [&](int rank, int, int) {
    return Kernels{{"persistent_attention", is_last(rank, ranks) ? kLonger * 1900 : 1900, 108 * 8}};
  });
}

Job lengths_that_vary(Random& random, const JobShape& shape, double spread, double pace_of_last = 1) {
  const Drawn tokens = tokens_of_batches(random, shape, spread, 256);
  return simulate_kernels(random, shape, [&](int rank, int step, int) {
    return layer(tokens(rank / shape.tensor_parallel, step), is_last(rank, shape.ranks) ? pace_of_last : 1);
  });
}
Job lengths_by_5_percent(Random& random, std::int32_t ranks) {
  return lengths_that_vary(random, shape_of(random, ranks), 0.05);
}
Job lengths_by_15_percent(Random& random, std::int32_t ranks) {
  return lengths_that_vary(random, shape_of(random, ranks), 0.15);
}
Job lengths_by_30_percent(Random& random, std::int32_t ranks) {
  return lengths_that_vary(random, shape_of(random, ranks), 0.3);
}
Job lengths_of_pairs(Random& random, std::int32_t ranks) {
  return lengths_that_vary(random, pairs_of(random, ranks), 0.3);
}
Job one_twice_as_long_in_some_steps(Random& random, std::int32_t ranks) {
  return simulate_kernels(random, shape_of(random, ranks), [&](int rank, int step, int) {
    const bool longer = step % 10 < 4 && step % ranks == rank;
    return layer(longer ? 2 * kTokens : kTokens);
  });
}
// Half of a usual kernel's time is the same for any size; the last rank's batches are half as long.
Job half_as_long_with_fixed_times(Random& random, std::int32_t ranks) {
  const JobShape shape = shape_of(random, ranks);
  const Drawn tokens = tokens_of_batches(random, shape, 0.3, 256);
  return simulate_kernels(random, shape, [&](int rank, int step, int) {
    Kernels kernels = layer(tokens(rank, step) * (is_last(rank, ranks) ? 0.5 : 1));
    const Kernels usual = layer(kTokens);
    for (std::size_t i = 0; i < kernels.size(); ++i)
      kernels[i].takes_us = (kernels[i].takes_us + usual[i].takes_us) / 2;
    return kernels;
  });
}
Job lengths_and_a_slow_gpu(Random& random, std::int32_t ranks) {
  return lengths_that_vary(random, shape_of(random, ranks), 0.15, kLonger);
}
Job lengths_and_a_slower_gpu(Random& random, std::int32_t ranks) {
  return lengths_that_vary(random, shape_of(random, ranks), 0.3, 1.3);
}

Job smaller_batch(Random& random, std::int32_t ranks) {
  return larger_batch(random, ranks, 0.8);
}
Job faster_gpu(Random& random, std::int32_t ranks) {
  return simulate_kernels(random, shape_of(random, ranks),
                          [&](int rank, int, int) { return layer(kTokens, is_last(rank, ranks) ? 0.8 : 1); });
}
// 1 to 3 ms, beside 6 to 10.
Job kernels_of_its_own(Random& random, std::int32_t ranks) {
  const double takes_us = random.uniform(1000, 3000);
  return simulate_kernels(
      random, shape_of(random, ranks), [](int, int, int) { return layer(kTokens); },
      [&](int rank, int) {
        return is_last(rank, ranks) ? Kernels{{"auxiliary_loss", takes_us, 2048}} : Kernels();
      });
}

const auto kCases = std::to_array<WorkCase>({
    {"nothing: all alike", Work::even, 8, 0, all_alike},
    {"each GPU is slower by 0 to 22 %, another amount in each step", Work::even, 4, 0, paces_that_vary},
    {"the same, and one rank counts something in two steps", Work::even, 4, 0, two_steps_with_more},
    {"lengths vary by 30 %, the same for all ranks of a step", Work::even, 4, 0, same_lengths_for_all},
    {"a GPU is slower by 5 to 40 %", Work::even, 2, 1, slow_gpu},
    {"a GPU is slower by 5 to 40 %", Work::even, 4, 1, slow_gpu},
    {"a GPU is slower by 5 to 40 %", Work::even, 16, 1, slow_gpu},
    {"two GPUs slower by 20 %, with kernels of their own for matrix products", Work::even, 8, 2,
     two_other_gpus},
    {"two ranks whose launches are twice as large, and slower by 20 %", Work::even, 8, 2,
     two_tuned_otherwise},
    {"tensor-parallel pairs: the GPUs of one are slower by 30 %, lengths vary by 2 %", Work::even, 4, 2,
     a_pair_of_slow_gpus},
    {"a batch larger by 5 %", Work::more, 4, 1, twentieth_larger_batch},
    {"a batch larger by 10 %", Work::more, 4, 1, tenth_larger_batch},
    {"a batch larger by 20 %", Work::more, 2, 1, fifth_larger_batch},
    {"a batch larger by 20 %", Work::more, 4, 1, fifth_larger_batch},
    {"a batch larger by 20 %", Work::more, 16, 1, fifth_larger_batch},
    {"every other layer larger by 40 %", Work::more, 4, 1, half_of_the_layers_larger},
    {"one layer more", Work::more, 4, 1, one_layer_more},
    {"a batch larger by 20 %, in persistent kernels", Work::more, 4, 1, larger_batch_for_persistent_kernels,
     true},
    {"lengths vary by 5 %", Work::uneven, 4, 0, lengths_by_5_percent},
    {"lengths vary by 15 %", Work::uneven, 4, 0, lengths_by_15_percent},
    {"lengths vary by 30 %", Work::uneven, 2, 0, lengths_by_30_percent},
    {"lengths vary by 30 %", Work::uneven, 8, 0, lengths_by_30_percent},
    {"tensor-parallel pairs: lengths vary by 30 %", Work::uneven, 4, 0, lengths_of_pairs},
    {"lengths vary by 30 %, one rank's are half as long, half of a kernel's time is fixed", Work::uneven, 4,
     0, half_as_long_with_fixed_times},
    {"in four steps of ten one rank's batch is twice as long, another one's each time", Work::uneven, 4, 0,
     one_twice_as_long_in_some_steps},
    {"lengths vary by 15 %, and a GPU is slower by 20 %", Work::uneven, 4, 1, lengths_and_a_slow_gpu},
    {"lengths vary by 30 %, and a GPU is slower by 30 %", Work::uneven, 4, 1, lengths_and_a_slower_gpu},
    {"a GPU is faster by 20 %", Work::even, 4, 0, faster_gpu, false, true},
    {"a GPU is faster by 20 %", Work::even, 16, 0, faster_gpu, false, true},
    {"a batch smaller by 20 %", Work::less, 4, 0, smaller_batch, false, true},
    {"a batch smaller by 20 %", Work::less, 8, 0, smaller_batch, false, true},
    {"a batch smaller by 20 %", Work::less, 16, 0, smaller_batch, false, true},
    {"a kernel that the others do not run, 1 to 3 ms beside 6 to 10", Work::besides, 2, 1,
     kernels_of_its_own},
    {"a kernel that the others do not run, 1 to 3 ms beside 6 to 10", Work::besides, 8, 1,
     kernels_of_its_own},
});

}  // namespace

std::string_view to_string(Work work) {
  constexpr std::array<std::string_view, 5> kNames{"even", "more", "uneven", "less", "besides"};
  return kNames[static_cast<std::size_t>(work)];
}

std::span<const WorkCase> work_cases() {
  return kCases;
}

}  // namespace lockstep::accuracy

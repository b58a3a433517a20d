// Simulated training on GPUs with every kernel that a rank launches and its size: what a rank is given to
// compute is known, and so is whether its GPU takes longer for it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analyzer/model/job.h"
#include "tests/accuracy/noise.h"

namespace lockstep::accuracy {

struct Kernel {
  const char* name = "";
  double takes_us = 0;
  double warps = 0;
};
using Kernels = std::vector<Kernel>;

inline constexpr double kTokens = 4096;  // of a usual batch

// A transformer's layer: two matrix products, a softmax, an addition, each as large as the batch and as long;
// 1.9 ms for kTokens. `pace`: how much longer than usual the GPU takes for the same.
Kernels layer(double tokens, double pace = 1);

// A batch's tokens: log-normal around kTokens, in whole multiples of `padded_to`.
double varying_tokens(Random& random, double spread, int padded_to);

struct JobShape {
  std::int32_t ranks = 4;
  int steps = 50;
  int layers = 4;
  // Ranks that compute each layer together, and reduce behind it. All others of the same place in these
  // groups reduce at the end of a step.
  std::int32_t tensor_parallel = 1;
};

// Launches everything ahead, reduces at the end of a step, then runs its optimizer; the host waits for that.
// `layer_of`: the kernels of one layer of a rank in a step. `after`: those behind the last layer, if any.
// Kernels vary by 2 % each, a rank's GPU from step to step by 1 % (standard deviations).
using LayerOf = std::function<Kernels(std::int32_t rank, int step, int layer)>;
using AfterLayers = std::function<Kernels(std::int32_t rank, int step)>;
analyzer::Job simulate_kernels(Random& random, const JobShape& shape, const LayerOf& layer_of,
                               const AfterLayers& after = {});

}  // namespace lockstep::accuracy

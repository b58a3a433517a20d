#include "reference_trainer/modes/zero/sharded_optimizer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <string>
#include <utility>

#include "reference_trainer/modes/zero/mode.h"

namespace lockstep::trainer {

using annotations::Scope;

namespace {

// All parameters' parts one after the other are one vector; what lies in its stretch from `begin` on, of
// `length` elements, as a copy between a parameter's columns and the stretch's.
struct Overlap {
  std::size_t parameter;
  std::int64_t in_parameter, in_stretch, length;
};

std::vector<Overlap> overlaps(const std::vector<PartitionedParameter>& parameters, std::int64_t begin,
                              std::int64_t length) {
  std::vector<Overlap> found;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < parameters.size(); at += parameters[i++].part_elements()) {
    const std::int64_t from = std::max(at, begin);
    const std::int64_t to = std::min(at + parameters[i].part_elements(), begin + length);
    if (from < to) found.push_back({i, from - at, from - begin, to - from});
  }
  return found;
}

}  // namespace

void ShardedOptimizer::after_update() {
  const at::NoGradGuard no_gradient;
  const bool offloaded = options().offload_optimizer.device != OffloadDevice::none;
  const int size = group().size();
  std::int64_t total = 0;
  for (const PartitionedParameter& parameter : parameters()) total += parameter.part_elements();
  const std::int64_t stretch = std::max<std::int64_t>(1, options().allgather_bucket_size / size);

  std::vector<std::pair<at::Tensor, Event>> gathers;
  for (std::int64_t begin = 0; begin < total; begin += stretch) {
    const std::int64_t length = std::min(stretch, total - begin);
    const at::Tensor whole = at::empty({size, length}, parameters().front().options());
    {
      const auto range = Scope::phase(offloaded ? "fetch updated parameters" : "fill bucket");
      for (const Overlap& overlap : overlaps(parameters(), begin, length))
        whole.select(0, group().rank())
            .narrow(0, overlap.in_stretch, overlap.length)
            .copy_(optimizer().value(overlap.parameter).narrow(0, overlap.in_parameter, overlap.length));
    }
    gathers.emplace_back(whole,
                         group().all_gather("bucket " + std::to_string(gathers.size()), whole.view({-1})));
  }
  optimizer().after_update();

  const auto range = Scope::phase("wait for parameters");
  for (std::size_t i = 0; i < gathers.size(); ++i) {
    const auto& [whole, done] = gathers[i];
    done.wait();
    for (const Overlap& overlap :
         overlaps(parameters(), static_cast<std::int64_t>(i) * stretch, whole.size(1)))
      parameters()[overlap.parameter]
          .rows()
          .narrow(1, overlap.in_parameter, overlap.length)
          .copy_(whole.narrow(1, overlap.in_stretch, overlap.length));
  }
}

std::unique_ptr<Strategy> Zero1::make(const StrategyContext& context) {
  return std::make_unique<ShardedOptimizer>(context);
}

std::unique_ptr<Strategy> Zero2::make(const StrategyContext& context) {
  return std::make_unique<ShardedOptimizer>(context);
}

}  // namespace lockstep::trainer

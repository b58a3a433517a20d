#include "reference_trainer/modes/zero/bucket_plan.h"

namespace lockstep::trainer {

std::vector<std::vector<std::size_t>> plan_buckets(const std::vector<std::int64_t>& elements,
                                                   std::int64_t limit) {
  std::vector<std::vector<std::size_t>> buckets;
  std::int64_t filled = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (buckets.empty() || filled + elements[i] > limit) {
      buckets.emplace_back();
      filled = 0;
    }
    buckets.back().push_back(i);
    filled += elements[i];
  }
  return buckets;
}

}  // namespace lockstep::trainer

#include "reference_trainer/modes/zero/coalesced.h"

#include <numeric>

namespace lockstep::trainer {

std::int64_t Coalesced::elements(int size, const std::vector<std::int64_t>& columns) {
  return size * std::accumulate(columns.begin(), columns.end(), std::int64_t{0});
}

Coalesced::Coalesced(const at::Tensor& memory, int size, const std::vector<std::int64_t>& columns)
    : flat_(memory.narrow(0, 0, elements(size, columns))), size_(size), begins_{0} {
  for (const std::int64_t width : columns) begins_.push_back(begins_.back() + width);
}

at::Tensor Coalesced::rows(std::size_t index) const {
  return flat_.view({size_, begins_.back()}).narrow(1, begins_[index], begins_[index + 1] - begins_[index]);
}

}  // namespace lockstep::trainer

// Parameters' parts side by side in one flat tensor, so that one collective moves them all. The tensor is
// `size` equal parts, as CollectiveGroup wants it; seen as rows, each parameter has columns of its own.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep::trainer {

class Coalesced {
 public:
  // `columns`: part_elements of each parameter. `memory`: one dimension, at least size times their sum; the
  // front of it is used.
  Coalesced(const at::Tensor& memory, int size, const std::vector<std::int64_t>& columns);

  static std::int64_t elements(int size, const std::vector<std::int64_t>& columns);

  // For the collective: [size · sum of the columns].
  const at::Tensor& flat() const { return flat_; }
  // Parameter `index`, counted in `columns`: [size, columns[index]].
  at::Tensor rows(std::size_t index) const;
  // The same of one rank: [columns[index]], contiguous.
  at::Tensor row(std::size_t index, int rank) const { return rows(index).select(0, rank); }

 private:
  at::Tensor flat_;
  int size_;
  std::vector<std::int64_t> begins_;  // and the end
};

}  // namespace lockstep::trainer

// A parameter of the model of which each rank owns one of `size` equal parts: padded with zeros, seen as
// rows, [size, part_elements]. ZeRO cuts single parameters, so that any of them can travel together
// (coalesced.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep::trainer {

// Elements of a part.
std::int64_t part_elements(const at::Tensor& parameter, int size);
// A copy of part `rank`: [part_elements].
at::Tensor part_of(const at::Tensor& parameter, int rank, int size);

class PartitionedParameter {
 public:
  // The parameter becomes a view of a padded whole of type `compute`, with its values.
  PartitionedParameter(at::Tensor parameter, at::ScalarType compute, int size);

  std::int64_t elements() const { return parameter_.numel(); }  // without padding
  std::int64_t part_elements() const { return whole_.size(1); }
  at::ScalarType type() const { return whole_.scalar_type(); }
  at::TensorOptions options() const { return whole_.options(); }  // type and device
  // The values, beside autograd's back.
  at::Tensor rows() const { return whole_.detach(); }
  // The gradient as rows. The parameter has none afterwards; where it had none, zeros.
  at::Tensor take_gradient();

  std::int64_t gradient_bytes() const;  // of what is there
  // While it is not needed whole.
  void allocate();
  void free();

 private:
  at::Tensor parameter_;
  at::Tensor whole_;  // [size, part_elements]
};

}  // namespace lockstep::trainer

#include "reference_trainer/modes/zero/partitioned_parameter.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <utility>

#include "reference_trainer/model/tensor_memory.h"

namespace lockstep::trainer {
namespace {

// A copy with zeros at the end, or, where none are needed, the same memory.
at::Tensor to_rows(const at::Tensor& tensor, int size) {
  const std::int64_t part = part_elements(tensor, size);
  const at::Tensor flat = tensor.detach().reshape({-1});
  if (part * size == flat.numel()) return flat.view({size, part});
  const at::Tensor rows = at::zeros({size, part}, flat.options());
  rows.view({-1}).narrow(0, 0, flat.numel()).copy_(flat);
  return rows;
}

}  // namespace

std::int64_t part_elements(const at::Tensor& parameter, int size) {
  return (parameter.numel() + size - 1) / size;
}

at::Tensor part_of(const at::Tensor& parameter, int rank, int size) {
  return to_rows(parameter, size).select(0, rank).clone();
}

PartitionedParameter::PartitionedParameter(at::Tensor parameter, at::ScalarType compute, int size)
    : parameter_(std::move(parameter)) {
  const at::NoGradGuard no_gradient;
  // A copy in any case: the memory of its own is given back and taken again.
  whole_ = to_rows(parameter_, size).to(compute, /*non_blocking=*/false, /*copy=*/true);
  parameter_.set_data(whole_.view({-1}).narrow(0, 0, parameter_.numel()).view(parameter_.sizes()));
}

at::Tensor PartitionedParameter::take_gradient() {
  const at::NoGradGuard no_gradient;
  const at::Tensor gradient = parameter_.grad();
  parameter_.mutable_grad().reset();
  const int size = static_cast<int>(whole_.size(0));
  return gradient.defined() ? to_rows(gradient, size) : at::zeros(whole_.sizes(), whole_.options());
}

std::int64_t PartitionedParameter::gradient_bytes() const {
  const at::Tensor& gradient = parameter_.grad();
  return gradient.defined() ? static_cast<std::int64_t>(gradient.nbytes()) : 0;
}

void PartitionedParameter::allocate() {
  allocate_memory(whole_);
}

void PartitionedParameter::free() {
  free_memory(whole_);
}

}  // namespace lockstep::trainer

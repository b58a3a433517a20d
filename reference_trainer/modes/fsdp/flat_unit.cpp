#include "reference_trainer/modes/fsdp/flat_unit.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <utility>

#include "reference_trainer/model/tensor_memory.h"

namespace lockstep::trainer {

FlatUnit::FlatUnit(std::string name, std::vector<at::Tensor> parameters, at::ScalarType compute, int rank,
                   int size, int multiple, bool offload)
    : name_(std::move(name)), parameters_(std::move(parameters)), rank_(rank) {
  const at::NoGradGuard no_gradient;
  std::int64_t elements = 0;
  for (const at::Tensor& parameter : parameters_) elements += parameter.numel();
  const std::int64_t padded = (elements + multiple - 1) / multiple * multiple;
  const at::Tensor master = at::zeros({padded}, parameters_.front().options().requires_grad(false));
  const bool moves = offload && !master.is_cpu();
  const bool same = size == 1 && compute == master.scalar_type() && !moves;
  whole_ = same ? master : at::empty({padded}, master.options().dtype(compute));
  std::int64_t offset = 0;
  for (at::Tensor& parameter : parameters_) {
    master.narrow(0, offset, parameter.numel()).copy_(parameter.reshape({-1}));
    parameter.set_data(whole_.narrow(0, offset, parameter.numel()).view(parameter.sizes()));
    offset += parameter.numel();
  }
  if (same) {
    shard_ = whole_.detach().requires_grad_(true);
    return;
  }
  const std::int64_t part = padded / size;
  const at::Tensor shard = master.narrow(0, rank * part, part);
  shard_ = (moves ? shard.to(at::kCPU) : shard.clone()).requires_grad_(true);
  free();
}

bool FlatUnit::is_whole() const {
  return whole_.storage().data() != nullptr;
}

at::Tensor FlatUnit::allocate() {
  allocate_memory(whole_);
  refresh();
  return whole_.detach();
}

void FlatUnit::refresh() {
  // A tensor of its own, so that autograd doesn't see the gather as a change of what it has saved.
  const at::NoGradGuard no_gradient;
  whole_.detach().narrow(0, rank_ * shard_.numel(), shard_.numel()).copy_(shard_.detach());
}

void FlatUnit::free() {
  free_memory(whole_);
}

at::Tensor FlatUnit::take_gradients(at::ScalarType type) {
  const at::NoGradGuard no_gradient;
  const at::Tensor flat = at::zeros({whole_.numel()}, whole_.options().dtype(type));
  std::int64_t offset = 0;
  for (const at::Tensor& parameter : parameters_) {
    if (parameter.grad().defined())
      flat.narrow(0, offset, parameter.numel()).copy_(parameter.grad().reshape({-1}));
    parameter.mutable_grad().reset();
    offset += parameter.numel();
  }
  return flat;
}

}  // namespace lockstep::trainer

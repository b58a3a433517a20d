#include "reference_trainer/modes/zero/shard_store.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

namespace lockstep::trainer {

ShardStore::ShardStore(const std::vector<std::int64_t>& part_elements, at::ScalarType compute,
                       const OffloadOptions& offload, c10::Device device)
    : begins_{0}, compute_(compute) {
  for (const std::int64_t elements : part_elements) begins_.push_back(begins_.back() + elements);
  if (offload.device == OffloadDevice::nvme)
    file_ = std::make_unique<SwapFile>(offload.nvme_path, "zero_optimization.offload_param.nvme_path");
  else
    memory_ = at::empty({begins_.back()}, at::TensorOptions(compute).device(
                                              offload.device == OffloadDevice::cpu ? at::kCPU : device));
}

void ShardStore::write(std::size_t parameter, const at::Tensor& values) {
  const std::int64_t begin = begins_[parameter];
  if (!file_) {
    memory_.narrow(0, begin, values.numel()).copy_(values);
    return;
  }
  const at::Tensor bytes = values.to(at::kCPU, compute_).contiguous();
  file_->write(begin * static_cast<std::int64_t>(bytes.element_size()), bytes.data_ptr(), bytes.nbytes());
}

void ShardStore::read(std::size_t parameter, const at::Tensor& destination) {
  const std::int64_t begin = begins_[parameter];
  if (!file_) {
    destination.copy_(memory_.narrow(0, begin, destination.numel()));
    return;
  }
  // The file is read into the host's memory: that of the destination itself, on the CPU.
  const at::Tensor host = destination.is_cpu() ? destination : at::empty_like(destination, at::kCPU);
  file_->read(begin * static_cast<std::int64_t>(host.element_size()), host.data_ptr(), host.nbytes());
  if (!destination.is_cpu()) destination.copy_(host);
}

}  // namespace lockstep::trainer

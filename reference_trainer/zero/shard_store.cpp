#include "reference_trainer/zero/shard_store.h"

#include <ATen/ops/empty.h>

namespace lockstep::trainer {

ShardStore::ShardStore(const std::vector<std::int64_t>& part_elements, at::ScalarType compute,
                       const OffloadOptions& offload)
    : begins_{0}, compute_(compute) {
  for (const std::int64_t elements : part_elements) begins_.push_back(begins_.back() + elements);
  if (offload.device == OffloadDevice::nvme)
    file_ = std::make_unique<SwapFile>(offload.nvme_path, "zero_optimization.offload_param.nvme_path");
  else
    memory_ = at::empty({begins_.back()}, at::TensorOptions(compute));
}

void ShardStore::write(std::size_t parameter, const at::Tensor& values) {
  const std::int64_t begin = begins_[parameter];
  if (!file_) {
    memory_.narrow(0, begin, values.numel()).copy_(values);
    return;
  }
  const at::Tensor bytes = values.to(compute_).contiguous();
  file_->write(begin * static_cast<std::int64_t>(bytes.element_size()), bytes.data_ptr(), bytes.nbytes());
}

void ShardStore::read(std::size_t parameter, const at::Tensor& destination) {
  const std::int64_t begin = begins_[parameter];
  if (!file_) {
    destination.copy_(memory_.narrow(0, begin, destination.numel()));
    return;
  }
  file_->read(begin * static_cast<std::int64_t>(destination.element_size()), destination.data_ptr(),
              destination.nbytes());
}

}  // namespace lockstep::trainer

#include "reference_trainer/modes/zero/optimizer_partition.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>

#include "reference_trainer/instrumentation/annotations.h"
#include "reference_trainer/model/tensor_memory.h"
#include "reference_trainer/modes/zero/bucket_plan.h"

namespace lockstep::trainer {

using annotations::Scope;

OptimizerPartition::OptimizerPartition(const std::vector<at::Tensor>& parts, at::ScalarType gradients,
                                       std::int64_t sub_group_size, const OffloadOptions& offload)
    : offloaded_(offload.device != OffloadDevice::none) {
  if (offload.device == OffloadDevice::nvme)
    file_ = std::make_unique<SwapFile>(offload.nvme_path, "zero_optimization.offload_optimizer.nvme_path");
  std::vector<std::int64_t> sizes;
  for (const at::Tensor& part : parts) sizes.push_back(part.numel());
  std::int64_t in_file = 0;
  for (const std::vector<std::size_t>& members : plan_buckets(sizes, sub_group_size)) {
    std::vector<at::Tensor> pieces;
    std::int64_t begin = 0;
    for (const std::size_t index : members) {
      places_.push_back({groups_.size(), begin, sizes[index]});
      begin += sizes[index];
      pieces.push_back(parts[index]);
    }
    const at::Tensor weights = at::cat(pieces);
    const at::Tensor leaf = offloaded_ ? weights.to(at::kCPU) : weights;
    SubGroup& group = groups_.emplace_back();
    group.leaf = leaf;
    sums_options_ = weights.options().dtype(gradients);
    group.in_file = in_file;
    in_file += static_cast<std::int64_t>(leaf.nbytes()) +
               leaf.numel() * static_cast<std::int64_t>(c10::elementSize(gradients));
    leaf.requires_grad_(true);
  }
  if (file_) after_update();
}

std::vector<at::Tensor> OptimizerPartition::leaves() const {
  std::vector<at::Tensor> leaves;
  for (const SubGroup& group : groups_) leaves.push_back(group.leaf);
  return leaves;
}

std::vector<at::Tensor> OptimizerPartition::gradients() const {
  std::vector<at::Tensor> gradients;
  for (const SubGroup& group : groups_) gradients.push_back(group.gradient);
  return gradients;
}

void OptimizerPartition::begin_step() {
  for (SubGroup& group : groups_) group.sums.reset();
}

// Whole gradients may have to be there before the first of their parts is.
at::Tensor& OptimizerPartition::sums_of(SubGroup& group) {
  if (!group.sums.defined()) group.sums = at::zeros({group.leaf.numel()}, sums_options_);
  return group.sums;
}

void OptimizerPartition::add_gradient(std::size_t parameter, const at::Tensor& part) {
  const Place& place = places_[parameter];
  sums_of(groups_[place.group]).narrow(0, place.begin, place.elements).add_(part);
}

void OptimizerPartition::before_update() {
  const at::NoGradGuard no_gradient;
  for (SubGroup& group : groups_) {
    if (offloaded_)
      bring_to_host(group);
    else
      group.gradient = sums_of(group);
    if (group.gradient.scalar_type() == group.leaf.scalar_type()) group.leaf.mutable_grad() = group.gradient;
  }
}

void OptimizerPartition::bring_to_host(SubGroup& group) {
  const auto behind_weights = group.in_file + static_cast<std::int64_t>(group.leaf.nbytes());
  {
    const auto range = Scope::phase("offload gradients");
    if (file_) {
      const at::Tensor sums = sums_of(group).to(at::kCPU);  // on the CPU the same memory
      file_->write(behind_weights, sums.data_ptr(), sums.nbytes());
    } else {
      if (!group.gradient.defined()) group.gradient = at::empty_like(sums_of(group), at::kCPU);
      group.gradient.copy_(sums_of(group));
    }
  }
  if (!file_) return;
  const auto range = Scope::phase("fetch optimizer state");
  allocate_memory(group.leaf);
  file_->read(group.in_file, group.leaf.data_ptr(), group.leaf.nbytes());
  group.gradient = at::empty_like(group.sums, at::kCPU);
  file_->read(behind_weights, group.gradient.data_ptr(), group.gradient.nbytes());
}

at::Tensor OptimizerPartition::value(std::size_t parameter) const {
  const Place& place = places_[parameter];
  return groups_[place.group].leaf.detach().narrow(0, place.begin, place.elements);
}

void OptimizerPartition::after_update() {
  for (SubGroup& group : groups_) {
    group.sums.reset();
    if (offloaded_ && !file_) continue;  // the host's memory for gradients stays
    group.leaf.mutable_grad().reset();
    group.gradient.reset();
  }
  if (!file_) return;
  for (SubGroup& group : groups_) {
    const auto range = Scope::phase("offload optimizer state");
    file_->write(group.in_file, group.leaf.data_ptr(), group.leaf.nbytes());
    free_memory(group.leaf);
  }
}

}  // namespace lockstep::trainer

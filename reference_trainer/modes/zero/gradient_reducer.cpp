#include "reference_trainer/modes/zero/gradient_reducer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <string>
#include <utility>

#include "reference_trainer/distributed/collective_group.h"
#include "reference_trainer/modes/zero/bucket_plan.h"

namespace lockstep::trainer {

using annotations::Scope;

GradientReducer::GradientReducer(CollectiveGroup& group, std::vector<PartitionedParameter>& parameters,
                                 std::vector<std::size_t> order, const ZeroOptions& options,
                                 std::size_t outstanding,
                                 std::function<void(std::size_t, const at::Tensor&)> deliver)
    : group_(group),
      parameters_(parameters),
      order_(std::move(order)),
      options_(options),
      outstanding_(options.overlap_comm ? outstanding : 0),
      deliver_(std::move(deliver)),
      buffers_(outstanding_ + 1) {
  std::vector<std::int64_t> sizes;
  for (const std::size_t parameter : order_) sizes.push_back(parameters_[parameter].elements());
  for (std::vector<std::size_t>& members : plan_buckets(sizes, options.reduce_bucket_size)) {
    Bucket& bucket = buckets_.emplace_back();
    for (const std::size_t position : members)
      bucket.columns.push_back(parameters_[order_[position]].part_elements());
    bucket.members = std::move(members);
  }
}

Coalesced GradientReducer::memory_for(std::size_t bucket) {
  const std::vector<std::int64_t>& columns = buckets_[bucket].columns;
  const at::TensorOptions options = parameters_[order_.front()].options();
  if (!options_.contiguous_gradients)
    return {at::empty({Coalesced::elements(group_.size(), columns)}, options), group_.size(), columns};
  at::Tensor& buffer = buffers_[bucket % buffers_.size()];
  if (!buffer.defined()) {
    std::int64_t most = 0;
    for (const Bucket& each : buckets_)
      most = std::max(most, Coalesced::elements(group_.size(), each.columns));
    buffer = at::empty({most}, options);
  }
  return {buffer, group_.size(), columns};
}

void GradientReducer::make_room() {
  if (next_ < order_.size() && next_ > buckets_[open_].members.back()) reduce();
}

void GradientReducer::take() {
  make_room();
  const at::NoGradGuard no_gradient;
  const at::Tensor gradient = parameters_[order_[next_]].take_gradient();
  if (options_.contiguous_gradients) {
    if (filling_.empty()) filling_.push_back(memory_for(open_));
    filling_.front().rows(next_ - buckets_[open_].members.front()).copy_(gradient);
  } else {
    waiting_.push_back(gradient);
  }
  ++next_;
}

void GradientReducer::reduce() {
  const at::NoGradGuard no_gradient;
  if (!options_.contiguous_gradients) {
    filling_.push_back(memory_for(open_));
    for (std::size_t i = 0; i < waiting_.size(); ++i) filling_.front().rows(i).copy_(waiting_[i]);
    waiting_.clear();
  }
  while (!reductions_.empty() && reductions_.size() >= outstanding_) wait_for_oldest();
  const std::string name = "bucket " + std::to_string(open_);
  const Coalesced& bucket = filling_.front();
  const Event done = options_.reduce_scatter ? group_.reduce_scatter(name, bucket.flat())
                                             : group_.all_reduce(name, bucket.flat());
  reductions_.push_back({open_, bucket, done});
  filling_.clear();
  ++open_;
  if (outstanding_ == 0) wait_for_oldest();
}

void GradientReducer::wait_for_oldest() {
  const auto range = Scope::phase("wait for gradients");
  const Reduction reduction = std::move(reductions_.front());
  reductions_.pop_front();
  reduction.done.wait();
  const std::vector<std::size_t>& members = buckets_[reduction.bucket].members;
  for (std::size_t i = 0; i < members.size(); ++i)
    deliver_(order_[members[i]], reduction.gradients.row(i, group_.rank()));
}

void GradientReducer::finish() {
  reduce();
  while (!reductions_.empty()) wait_for_oldest();
  next_ = open_ = 0;
}

}  // namespace lockstep::trainer

#include "reference_trainer/distributed/data_parallel.h"

#include <algorithm>
#include <limits>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "reference_trainer/distributed/communicator.h"

namespace lockstep::trainer {
namespace {

constexpr bool kFindUnusedParameters = false;
// Gradients live in the buckets: nothing is copied back after the all-reduce.
constexpr bool kGradientAsBucketView = true;

using Tensors = std::vector<at::Tensor>;
using Assignment = std::vector<std::vector<std::size_t>>;
using Group = c10::intrusive_ptr<c10d::ProcessGroup>;
using Names = std::unordered_map<std::size_t, std::string>;

// The constructor grows by a trailing parameter now and then. `Version` is the Reducer: a dependent type, so
// that only the branch that fits this libtorch is compiled.
template <class Version>
std::unique_ptr<Version> make_reducer(const Tensors& tensors, const Assignment& assignment,
                                      const Group& group, const Names& names, const BucketOptions& limits) {
  const std::vector<bool> dense(tensors.size(), false);
  if constexpr (std::is_constructible_v<Version, Tensors, Assignment, Group, std::vector<bool>, std::int64_t,
                                        bool, bool, Names, std::int64_t, bool, bool,
                                        std::vector<std::int64_t>>) {
    return std::make_unique<Version>(tensors, assignment, group, dense, limits.cap_bytes,
                                     kFindUnusedParameters, kGradientAsBucketView, names, limits.first_bytes,
                                     false, false, std::vector<std::int64_t>{});
  } else if constexpr (std::is_constructible_v<Version, Tensors, Assignment, Group, std::vector<bool>,
                                               std::int64_t, bool, bool, Names, std::int64_t, bool, bool>) {
    return std::make_unique<Version>(tensors, assignment, group, dense, limits.cap_bytes,
                                     kFindUnusedParameters, kGradientAsBucketView, names, limits.first_bytes,
                                     false, false);
  } else {
    return std::make_unique<Version>(tensors, assignment, group, dense, limits.cap_bytes,
                                     kFindUnusedParameters, kGradientAsBucketView, names, limits.first_bytes);
  }
}

Tensors tensors_of(const std::vector<Parameter>& parameters) {
  Tensors tensors;
  for (const Parameter& parameter : parameters) tensors.push_back(parameter.tensor);
  return tensors;
}

}  // namespace

DataParallel::DataParallel(Communicator& communicator, std::vector<Parameter> parameters,
                           const BucketOptions& limits)
    : communicator_(communicator), parameters_(std::move(parameters)) {
  const Tensors tensors = tensors_of(parameters_);
  communicator_.set_purpose(Purpose::parameters);
  Tensors detached;
  for (const at::Tensor& tensor : tensors) detached.push_back(tensor.detach());
  communicator_.broadcast(detached);

  // As DistributedDataParallel does it without unused parameters: one bucket until the ready order is known.
  auto [assignment, size_limits] = c10d::compute_bucket_assignment_by_size(
      tensors, {std::numeric_limits<std::size_t>::max()}, std::vector<bool>(tensors.size(), false));
  std::reverse(assignment.begin(), assignment.end());
  Names names;
  for (std::size_t i = 0; i < parameters_.size(); ++i) names.emplace(i, parameters_[i].name);
  reducer_ = make_reducer<c10d::Reducer>(tensors, assignment, communicator_.process_group(), names, limits);
}

DataParallel::~DataParallel() = default;

bool DataParallel::before_forward(bool synchronize) {
  if (synchronize) reducer_->prepare_for_forward();
  communicator_.set_purpose(Purpose::bucket_order);
  const bool rebuilt = reducer_->should_rebuild_buckets() && reducer_->rebuild_buckets();
  communicator_.set_purpose(Purpose::gradients);
  return rebuilt;
}

void DataParallel::before_backward() {
  reducer_->prepare_for_backward({});
}

std::vector<Bucket> DataParallel::buckets() const {
  std::unordered_map<const void*, const std::string*> names;
  for (const Parameter& parameter : parameters_) {
    names.emplace(parameter.tensor.unsafeGetTensorImpl(), &parameter.name);
  }
  std::vector<Bucket> buckets;
  for (const c10d::GradBucket& source : reducer_->get_grad_buckets()) {
    Bucket& bucket = buckets.emplace_back();
    bucket.bytes = static_cast<std::int64_t>(source.getBuffer().nbytes());
    for (const at::Tensor& tensor : source.getParameters()) {
      bucket.parameters.push_back(*names.at(tensor.unsafeGetTensorImpl()));
    }
  }
  return buckets;
}

}  // namespace lockstep::trainer

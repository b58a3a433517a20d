#include "reference_trainer/modes/ddp/data_parallel.h"

#include <algorithm>
#include <limits>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "reference_trainer/distributed/communicator.h"

namespace lockstep::trainer {
namespace {

using Tensors = std::vector<at::Tensor>;
using Assignment = std::vector<std::vector<std::size_t>>;
using Group = c10::intrusive_ptr<c10d::ProcessGroup>;
using Names = std::unordered_map<std::size_t, std::string>;

// The constructor grows by a trailing parameter now and then. `Version` is the Reducer: a dependent type, so
// that only the branch that fits this libtorch is compiled.
template <class Version>
std::unique_ptr<Version> make_reducer(const Tensors& tensors, const Assignment& assignment,
                                      const Group& group, const Names& names, const DdpOptions& options) {
  const std::vector<bool> dense(tensors.size(), false);
  if constexpr (std::is_constructible_v<Version, Tensors, Assignment, Group, std::vector<bool>, std::int64_t,
                                        bool, bool, Names, std::int64_t, bool, bool,
                                        std::vector<std::int64_t>>) {
    return std::make_unique<Version>(tensors, assignment, group, dense, options.cap_bytes,
                                     options.find_unused_parameters, options.gradient_as_bucket_view, names,
                                     options.first_bytes, false, false, std::vector<std::int64_t>{});
  } else if constexpr (std::is_constructible_v<Version, Tensors, Assignment, Group, std::vector<bool>,
                                               std::int64_t, bool, bool, Names, std::int64_t, bool, bool>) {
    return std::make_unique<Version>(tensors, assignment, group, dense, options.cap_bytes,
                                     options.find_unused_parameters, options.gradient_as_bucket_view, names,
                                     options.first_bytes, false, false);
  } else {
    return std::make_unique<Version>(tensors, assignment, group, dense, options.cap_bytes,
                                     options.find_unused_parameters, options.gradient_as_bucket_view, names,
                                     options.first_bytes);
  }
}

Tensors tensors_of(const std::vector<Parameter>& parameters) {
  Tensors tensors;
  for (const Parameter& parameter : parameters) tensors.push_back(parameter.tensor);
  return tensors;
}

}  // namespace

DataParallel::DataParallel(Communicator& communicator, std::vector<Parameter> parameters,
                           const DdpOptions& options)
    : communicator_(communicator), parameters_(std::move(parameters)), options_(options) {
  const Tensors tensors = tensors_of(parameters_);
  communicator_.set_purpose(Purpose::parameters);
  Tensors detached;
  for (const at::Tensor& tensor : tensors) detached.push_back(tensor.detach());
  communicator_.broadcast(detached);

  // As DistributedDataParallel does it: one bucket until the order in which gradients are ready is known;
  // where unused parameters are looked for, that order is never taken, and the limits hold from the start.
  std::vector<std::size_t> limits{std::numeric_limits<std::size_t>::max()};
  if (options.find_unused_parameters)
    limits = {static_cast<std::size_t>(options.first_bytes), static_cast<std::size_t>(options.cap_bytes)};
  auto [assignment, size_limits] =
      c10d::compute_bucket_assignment_by_size(tensors, limits, std::vector<bool>(tensors.size(), false));
  std::reverse(assignment.begin(), assignment.end());
  Names names;
  for (std::size_t i = 0; i < parameters_.size(); ++i) names.emplace(i, parameters_[i].name);
  reducer_ = make_reducer<c10d::Reducer>(tensors, assignment, communicator_.process_group(), names, options);
}

DataParallel::~DataParallel() = default;

bool DataParallel::before_forward(bool synchronize) {
  if (synchronize) reducer_->prepare_for_forward();
  communicator_.set_purpose(Purpose::bucket_order);
  const bool rebuilt = reducer_->should_rebuild_buckets() && reducer_->rebuild_buckets();
  communicator_.set_purpose(Purpose::gradients);
  return rebuilt;
}

void DataParallel::before_backward(const std::vector<at::Tensor>& outputs) {
  reducer_->prepare_for_backward(options_.find_unused_parameters ? outputs : std::vector<at::Tensor>{});
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

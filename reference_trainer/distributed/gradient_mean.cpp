#include "reference_trainer/distributed/gradient_mean.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <string>

#include "reference_trainer/distributed/collective_group.h"

namespace lockstep::trainer {
namespace {

struct GradientBucket {
  std::vector<at::Tensor> gradients;
  std::int64_t elements = 0;
  at::Tensor flat;  // padded to a multiple of the group's size
  Event reduced;
};

void fill(GradientBucket& bucket, int ranks) {
  const std::int64_t padded = (bucket.elements + ranks - 1) / ranks * ranks;
  bucket.flat = at::zeros({padded}, bucket.gradients.front().options());
  std::int64_t offset = 0;
  for (const at::Tensor& gradient : bucket.gradients) {
    bucket.flat.narrow(0, offset, gradient.numel()).copy_(gradient.reshape({-1}));
    offset += gradient.numel();
  }
}

void empty(const GradientBucket& bucket, int ranks) {
  std::int64_t offset = 0;
  for (const at::Tensor& gradient : bucket.gradients) {
    gradient.copy_(bucket.flat.narrow(0, offset, gradient.numel()).view(gradient.sizes()).div(ranks));
    offset += gradient.numel();
  }
}

std::vector<GradientBucket> cut_into_buckets(const std::vector<at::Tensor>& parameters,
                                             std::int64_t bucket_bytes) {
  std::vector<GradientBucket> buckets;
  bool open = false;
  for (auto parameter = parameters.rbegin(); parameter != parameters.rend(); ++parameter) {
    const at::Tensor gradient = parameter->grad();
    if (!open) buckets.emplace_back();
    GradientBucket& bucket = buckets.back();
    bucket.gradients.push_back(gradient);
    bucket.elements += gradient.numel();
    open = bucket.elements * static_cast<std::int64_t>(gradient.element_size()) < bucket_bytes;
  }
  return buckets;
}

}  // namespace

void average_gradients(CollectiveGroup& group, const std::vector<at::Tensor>& parameters,
                       std::int64_t bucket_bytes) {
  const at::NoGradGuard no_gradient;
  std::vector<GradientBucket> buckets = cut_into_buckets(parameters, bucket_bytes);
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    fill(buckets[i], group.size());
    buckets[i].reduced = group.all_reduce("gradients " + std::to_string(i), buckets[i].flat);
  }
  for (const GradientBucket& bucket : buckets) {
    bucket.reduced.wait();
    empty(bucket, group.size());
  }
}

}  // namespace lockstep::trainer

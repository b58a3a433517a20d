#include "reference_trainer/fsdp/fully_sharded.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <utility>

#include "reference_trainer/distributed/sharding_group.h"
#include "reference_trainer/model/transformer.h"

namespace lockstep::trainer {

FullySharded::FullySharded(ShardingGroup& group, Transformer& model, const FsdpOptions& options)
    : group_(group), options_(options) {
  std::vector<at::Tensor> rest;
  std::vector<std::vector<at::Tensor>> layers(static_cast<std::size_t>(model.layers()));
  for (const auto& item : model.named_parameters()) {
    int layer = -1;
    std::sscanf(item.key().c_str(), "layer_%d.", &layer);
    (layer < 0 ? rest : layers[static_cast<std::size_t>(layer)]).push_back(item.value());
  }
  add_unit("root", std::move(rest));
  for (std::size_t i = 0; i < layers.size(); ++i)
    add_unit("layer " + std::to_string(i), std::move(layers[i]));
}

FullySharded::~FullySharded() = default;

void FullySharded::add_unit(const std::string& name, std::vector<at::Tensor> parameters) {
  units_.push_back(
      std::make_unique<Unit>(FlatUnit(name, std::move(parameters), group_.rank(), group_.size())));
  units_.back()->flat.shard().requires_grad_(true);
  watch_gradients(units_.size() - 1);
}

// The gradients of a unit are complete when the last of its parameters has its own.
void FullySharded::watch_gradients(std::size_t index) {
  Unit& unit = *units_[index];
  unit.gradients_missing = unit.flat.parameters().size();
  for (const at::Tensor& parameter : unit.flat.parameters()) {
    auto accumulator = torch::autograd::impl::grad_accumulator(parameter);
    accumulator->add_post_hook(std::make_unique<torch::autograd::utils::LambdaPostHook>(
        [this, index](const torch::autograd::variable_list& outputs, const torch::autograd::variable_list&) {
          if (--units_[index]->gradients_missing == 0) after_backward(index);
          return outputs;
        }));
    unit.accumulators.push_back(std::move(accumulator));
  }
}

std::vector<at::Tensor> FullySharded::shards() const {
  std::vector<at::Tensor> shards;
  for (const auto& unit : units_) shards.push_back(unit->flat.shard());
  return shards;
}

PartHooks FullySharded::hooks(bool synchronize) {
  synchronize_ = synchronize;
  return {.before_forward = [this](int layer) { before_forward(layer); },
          .after_forward = [this](int layer) { after_forward(layer); },
          .before_backward = [this](int layer) { before_backward(layer); }};
}

void FullySharded::gather(Unit& unit) {
  if (unit.state != State::sharded) return;
  unit.gathered = group_.all_gather(unit.flat.name(), unit.flat.allocate());
  unit.state = State::gathering;
}

void FullySharded::make_whole(Unit& unit) {
  gather(unit);
  if (unit.state == State::whole) return;
  unit.gathered.wait();
  unit.state = State::whole;
}

void FullySharded::give_up(Unit& unit) {
  unit.flat.free();
  unit.state = State::sharded;
}

void FullySharded::before_forward(int layer) {
  const auto index = static_cast<std::size_t>(layer + 1);
  make_whole(*units_[index]);
  if (options_.forward_prefetch && index + 1 < units_.size()) gather(*units_[index + 1]);
}

void FullySharded::after_forward(int layer) {
  // The root is needed again at once, for the head and at the beginning of backward.
  if (options_.strategy == ShardingStrategy::full_shard)
    give_up(*units_[static_cast<std::size_t>(layer + 1)]);
}

// Backward goes through the units from the last one down; the root's part comes first, and its whole is
// there.
void FullySharded::prefetch_for_backward(std::size_t index) {
  const std::size_t next = index == 0 ? units_.size() - 1 : index - 1;
  if (next > 0) gather(*units_[next]);
}

void FullySharded::before_backward(int layer) {
  const auto index = static_cast<std::size_t>(layer + 1);
  make_whole(*units_[index]);
  if (options_.backward_prefetch == BackwardPrefetch::pre) prefetch_for_backward(index);
}

void FullySharded::after_backward(std::size_t index) {
  Unit& unit = *units_[index];
  unit.gradients_missing = unit.flat.parameters().size();
  // Without a reduction to come, what keeps its parameters over forward keeps them here too.
  if (synchronize_ || options_.strategy == ShardingStrategy::full_shard) give_up(unit);
  if (options_.backward_prefetch == BackwardPrefetch::post && index > 0) prefetch_for_backward(index);
  if (!synchronize_) return;
  unit.reducing = unit.flat.take_gradients();
  unit.reduced = group_.reduce_scatter(unit.flat.name(), unit.reducing);
}

void FullySharded::wait_for_gradients() {
  for (const auto& unit : units_) {
    unit->reduced.wait();
    const at::Tensor& shard = unit->flat.shard();
    const at::Tensor sum = unit->reducing.narrow(0, group_.rank() * shard.numel(), shard.numel());
    shard.mutable_grad() = sum.div(group_.size());
    unit->reducing.reset();
  }
}

}  // namespace lockstep::trainer

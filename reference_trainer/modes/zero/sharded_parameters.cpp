#include "reference_trainer/modes/zero/sharded_parameters.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <numeric>
#include <utility>

#include "reference_trainer/model/model.h"
#include "reference_trainer/modes/zero/mode.h"

namespace lockstep::trainer {

using annotations::Scope;

namespace {

constexpr std::size_t kOutstandingGathers = 2;

FetchPlanner planner_for(const StrategyContext& context) {
  const ZeroOptions& zero = context.options.own.get<DeepSpeedOptions>().zero;
  std::vector<std::vector<std::int64_t>> elements;
  for (int part = 0; part < context.model.parts(); ++part) {
    elements.emplace_back();
    for (const Parameter& parameter : context.model.parameters_of(part))
      elements.back().push_back(parameter.tensor.numel());
  }
  return {elements,
          {.prefetch_bucket = zero.prefetch_bucket_size,
           .max_live = zero.max_live_parameters,
           .max_reuse_distance = zero.max_reuse_distance,
           .persistence_threshold = zero.param_persistence_threshold}};
}

}  // namespace

ShardedParameters::ShardedParameters(const StrategyContext& context)
    : ZeroStrategy(context), planner_(planner_for(context)), in_flight_(planner_.parameters()) {
  std::vector<std::int64_t> part_elements;
  for (const PartitionedParameter& parameter : parameters())
    part_elements.push_back(parameter.part_elements());
  // In the optimizer's precision its weights are the parts.
  const Precision precision = context.options.model.precision;
  const bool same = compute_type(precision) == master_type(precision) &&
                    options().offload_param.device == OffloadDevice::none &&
                    options().offload_optimizer.device == OffloadDevice::none;
  if (!same)
    shards_ = std::make_unique<ShardStore>(part_elements, parameters().front().type(),
                                           options().offload_param, context.device.device);
  for (std::size_t i = 0; i < parameters().size(); ++i) {
    if (shards_) shards_->write(i, parameters()[i].rows().select(0, group().rank()));
    parameters()[i].free();
  }
}

std::vector<at::Tensor> ShardedParameters::parameter_stores() const {
  if (!shards_ || !shards_->memory().defined()) return {};
  return {shards_->memory()};
}

StateBytes ShardedParameters::theory(std::int64_t elements) const {
  StateBytes theory = ZeroStrategy::theory(elements);
  theory.parameters += planner_.persistent_elements() * bytes_of(model_precision()).parameter;
  return theory;
}

std::string ShardedParameters::name_of(const std::vector<std::size_t>& list) const {
  const std::string first = model().name_of(planner_.part_of(list.front()));
  const std::string last = model().name_of(planner_.part_of(list.back()));
  return first == last ? first : first + " to " + last;
}

void ShardedParameters::gather(const std::vector<std::size_t>& list, const std::string& name) {
  while (!outstanding_.empty() && outstanding_.front().done()) outstanding_.pop_front();
  if (outstanding_.size() >= kOutstandingGathers) {
    const auto range = Scope::phase("wait for an earlier fetch");
    outstanding_.front().synchronize();
    outstanding_.pop_front();
  }
  std::vector<std::int64_t> columns;
  for (const std::size_t index : list) columns.push_back(parameters()[index].part_elements());
  const int size = group().size();
  const auto gather = std::make_shared<Gather>(
      Gather{list,
             Coalesced(at::empty({Coalesced::elements(size, columns)}, parameters().front().options()), size,
                       columns),
             {}});
  {
    const bool offloaded = options().offload_param.device != OffloadDevice::none;
    const auto range = Scope::phase((offloaded ? "fetch offloaded " : "fill ") + name);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const at::Tensor part = gather->parts.row(i, group().rank());
      if (shards_)
        shards_->read(list[i], part);
      else
        part.copy_(optimizer().value(list[i]));
    }
  }
  gather->done = group().all_gather(name, gather->parts.flat());
  outstanding_.push_back(gather->done);
  for (const std::size_t index : list) in_flight_[index] = gather;
}

void ShardedParameters::wait_for(const std::vector<std::size_t>& list) {
  for (const std::size_t index : list) {
    const std::shared_ptr<Gather> gather = in_flight_[index];
    if (gather == nullptr) continue;
    gather->done.wait();
    for (std::size_t i = 0; i < gather->members.size(); ++i) {
      PartitionedParameter& parameter = parameters()[gather->members[i]];
      parameter.allocate();
      parameter.rows().copy_(gather->parts.rows(i));
      in_flight_[gather->members[i]].reset();
    }
  }
}

void ShardedParameters::free(const std::vector<std::size_t>& list) {
  for (const std::size_t index : list) parameters()[index].free();
}

void ShardedParameters::before_part(int part) {
  const at::NoGradGuard no_gradient;
  if (const auto missing = planner_.fetch(part); !missing.empty()) {
    const auto range = Scope::phase("fetch " + model().name_of(part));
    gather(missing, model().name_of(part));
  }
  {
    std::vector<std::size_t> all(planner_.end_of(part) - planner_.first_of(part));
    std::iota(all.begin(), all.end(), planner_.first_of(part));
    const auto range = Scope::phase("wait for " + model().name_of(part));
    wait_for(all);
  }
  if (const auto next = planner_.prefetch(); !next.empty()) {
    const auto range = Scope::phase("prefetch " + name_of(next));
    gather(next, name_of(next));
  }
}

void ShardedParameters::after_part(int part) {
  const auto released = planner_.release(part);
  if (released.empty()) return;
  const auto range = Scope::phase("release " + model().name_of(part));
  free(released);
}

void ShardedParameters::after_update() {
  const at::NoGradGuard no_gradient;
  free(planner_.drop_all());
  if (shards_) {
    const bool offloaded = options().offload_param.device != OffloadDevice::none;
    const auto range = Scope::phase(offloaded ? "offload parameters" : "update parameters");
    for (std::size_t i = 0; i < parameters().size(); ++i) shards_->write(i, optimizer().value(i));
  }
  optimizer().after_update();
  const auto persistent = planner_.fetch_persistent();
  if (persistent.empty()) return;
  {
    const auto range = Scope::phase("fetch persistent parameters");
    gather(persistent, "persistent parameters");
  }
  const auto range = Scope::phase("wait for persistent parameters");
  wait_for(persistent);
}

std::unique_ptr<Strategy> Zero3::make(const StrategyContext& context) {
  return std::make_unique<ShardedParameters>(context);
}

}  // namespace lockstep::trainer

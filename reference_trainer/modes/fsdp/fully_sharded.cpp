#include "reference_trainer/modes/fsdp/fully_sharded.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "reference_trainer/distributed/communicator.h"
#include "reference_trainer/model/model.h"
#include "reference_trainer/modes/fsdp/mode.h"
#include "reference_trainer/streams/device_stream.h"

namespace lockstep::trainer {

using annotations::Scope;

namespace {

constexpr std::uint64_t kShardingGroup = 1, kReplicationGroup = 2;
// As PyTorch's rate limiter: so many wholes may be given up and not yet known to be free.
constexpr std::size_t kFreesInFlight = 2;

std::vector<std::int64_t> parameters_of_layers(const Model& model) {
  std::vector<std::int64_t> counts;
  for (int part = 1; part < model.head(); ++part) {
    std::int64_t& count = counts.emplace_back();
    for (const Parameter& parameter : model.parameters_of(part)) count += parameter.tensor.numel();
  }
  return counts;
}

int shard_size(const StrategyContext& context) {
  const FsdpOptions& options = context.options.own.get<FsdpOptions>();
  switch (options.strategy) {
    case ShardingStrategy::no_shard:
      return 1;
    case ShardingStrategy::hybrid_shard:
      return options.shard_size > 0 ? options.shard_size : context.placement.local_world_size;
    case ShardingStrategy::full_shard:
    case ShardingStrategy::shard_grad_op:
      break;
  }
  return context.placement.world_size;
}

}  // namespace

FullySharded::FullySharded(const StrategyContext& context)
    : context_(context), options_(context_.options.own.get<FsdpOptions>()), pass_(pass_context(context)) {
  Communicator& communicator = *context.communicator;
  broadcast_parameters(context);

  const int size = shard_size(context);
  replicas_ = context.placement.world_size / size;
  const HybridRanks ranks = hybrid_ranks(context.placement.rank, context.placement.world_size, size);
  // Groups of one kind have one name for all ranks of the group, and another one for others.
  const auto name = [&](const char* kind, const std::vector<int>& members, int groups) {
    return groups == 1 ? std::string(kind) : std::string(kind) + " " + std::to_string(members.front());
  };
  if (size > 1)
    sharding_ = std::make_unique<CollectiveGroup>(
        communicator,
        annotations::Group{kShardingGroup, name("fsdp", ranks.sharding, replicas_), ranks.sharding});
  if (replicas_ > 1)
    replication_ = std::make_unique<CollectiveGroup>(
        communicator, annotations::Group{kReplicationGroup, name("fsdp replicas", ranks.replication, size),
                                         ranks.replication});

  unit_of_part_.resize(static_cast<std::size_t>(context.model.parts()));
  for (UnitParts& parts : cut_into_units(parameters_of_layers(context.model), options_.unit_parameters)) {
    std::vector<at::Tensor> parameters;
    for (const int part : parts.parts) {
      for (const Parameter& parameter : context.model.parameters_of(part))
        parameters.push_back(parameter.tensor);
      unit_of_part_[static_cast<std::size_t>(part)] = units_.size();
    }
    FlatUnit flat(parts.name, std::move(parameters), compute_type(context.options.model.precision),
                  sharding_ ? sharding_->rank() : 0, size, context.placement.world_size,
                  options_.cpu_offload);
    if (never_sharded() && !flat.is_whole()) flat.allocate();
    units_.push_back(std::make_unique<Unit>(std::move(parts), std::move(flat)));
    if (never_sharded()) units_.back()->state = State::whole;
  }
  pass_.hooks = {.before_forward = [this](int part) { before_forward(part); },
                 .after_forward = [this](int part) { after_forward(part); },
                 .before_backward = [this](int part) { before_backward(part); },
                 .after_backward = [this](int part) { after_backward(part); }};
}

FullySharded::~FullySharded() = default;

std::vector<at::Tensor> FullySharded::optimized() {
  std::vector<at::Tensor> shards;
  for (const auto& unit : units_) shards.push_back(unit->flat.shard());
  return shards;
}

// By no_shard, or because hybrid_shard was given one rank to share a copy with nobody.
bool FullySharded::never_sharded() const {
  return !sharding_;
}

bool FullySharded::keeps_whole_over_forward() const {
  return options_.strategy == ShardingStrategy::shard_grad_op || never_sharded();
}

double FullySharded::run(BatchSource& batches) {
  double loss = 0;
  const int micro_steps = context_.options.training.gradient_accumulation;
  for (int index = 0; index < micro_steps; ++index) loss += run_micro_step(batches.next(), index);
  return loss / micro_steps / context_.placement.world_size;
}

double FullySharded::run_micro_step(const Batch& batch, int index) {
  const int micro_steps = context_.options.training.gradient_accumulation;
  // As under FullyShardedDataParallel.no_sync(): whole gradients are kept until the last micro-step.
  synchronize_ = index + 1 == micro_steps;
  // Gathers of this pass don't wait for its compute, but for the update of the parameters before it.
  if (sharding_) sharding_->stream().follow_caller();
  const double loss = forward_backward(pass_, batch, index, 1.0 / micro_steps);
  if (synchronize_) {
    const auto range = Scope::phase("wait for gradients");
    wait_for_gradients();
  }
  return loss;
}

void FullySharded::gather(Unit& unit) {
  if (unit.state != State::sharded) return;
  if (options_.limit_all_gathers && frees_.size() >= kFreesInFlight) {
    const auto range = Scope::phase("wait for memory");
    frees_.front().synchronize();
    frees_.pop_front();
  }
  at::Tensor whole;
  {
    const auto range =
        Scope::phase((options_.cpu_offload ? "copy from host " : "allocate ") + unit.flat.name());
    const auto on_stream = sharding_->stream().make_current();
    whole = unit.flat.allocate();
  }
  unit.gathered = sharding_->all_gather(unit.flat.name(), whole, CollectiveGroup::FilledOn::stream);
  unit.state = State::gathering;
}

void FullySharded::make_whole(Unit& unit) {
  gather(unit);
  if (unit.state == State::whole) return;
  const auto range = Scope::phase("wait for " + unit.flat.name());
  unit.gathered.wait();
  unit.state = State::whole;
}

void FullySharded::give_up(Unit& unit) {
  unit.flat.free();
  unit.state = State::sharded;
  // On the CPU the work that used it is done when the host comes here.
  frees_.push_back(context_.device.is_cpu() ? Event() : mark(context_.device.device));
}

void FullySharded::before_forward(int part) {
  const std::size_t index = unit_of(part);
  Unit& unit = *units_[index];
  if (part != unit.parts.parts.front()) return;
  make_whole(unit);
  if (options_.forward_prefetch && index + 1 < units_.size()) gather(*units_[index + 1]);
}

void FullySharded::after_forward(int part) {
  Unit& unit = *units_[unit_of(part)];
  // The root is needed again at once, at the beginning of backward.
  if (&unit == units_.front().get() || part != unit.parts.parts.back()) return;
  if (!keeps_whole_over_forward()) give_up(unit);
}

// Backward goes through the units from the last one down; the root's head comes first, and its whole is
// there.
void FullySharded::prefetch_for_backward(std::size_t index) {
  const std::size_t next = index == 0 ? units_.size() - 1 : index - 1;
  if (next > 0) gather(*units_[next]);
}

void FullySharded::before_backward(int part) {
  const std::size_t index = unit_of(part);
  Unit& unit = *units_[index];
  if (part != unit.parts.parts.back()) return;
  make_whole(unit);
  if (options_.backward_prefetch == BackwardPrefetch::pre) prefetch_for_backward(index);
}

void FullySharded::after_backward(int part) {
  const std::size_t index = unit_of(part);
  Unit& unit = *units_[index];
  if (part != unit.parts.parts.front()) return;
  // Without a reduction to come, what keeps its parameters over forward keeps them here too.
  if (!never_sharded() && (synchronize_ || !keeps_whole_over_forward())) give_up(unit);
  if (options_.backward_prefetch == BackwardPrefetch::post && index > 0) prefetch_for_backward(index);
  if (synchronize_) reduce(unit);
}

void FullySharded::reduce(Unit& unit) {
  const Precision precision = context_.options.model.precision;
  unit.reducing =
      unit.flat.take_gradients(options_.reduce_in_float32 ? master_type(precision) : compute_type(precision));
  if (sharding_) unit.reduced = sharding_->reduce_scatter(unit.flat.name(), unit.reducing);
  if (!replication_) return;
  const std::int64_t part = unit.flat.shard().numel();
  const at::Tensor shard = unit.reducing.narrow(0, sharding_ ? sharding_->rank() * part : 0, part);
  // The second operation runs after the first one on this rank's streams, and the host goes on.
  unit.reduced = replication_->all_reduce(unit.flat.name(), shard, unit.reduced);
}

void FullySharded::wait_for_gradients() {
  for (const auto& unit : units_) {
    unit->reduced.wait();
    const at::Tensor& shard = unit->flat.shard();
    const std::int64_t offset = sharding_ ? sharding_->rank() * shard.numel() : 0;
    const auto range =
        Scope::phase((options_.cpu_offload ? "copy to host " : "average ") + unit->flat.name());
    const at::Tensor sum = unit->reducing.narrow(0, offset, shard.numel());
    shard.mutable_grad() = sum.to(shard.options()).div(context_.placement.world_size);
    unit->reducing.reset();
  }
}

StateShares FullySharded::shares() const {
  const int size = context_.placement.world_size / replicas_;
  return {.parameters = size, .gradients = size, .optimizer = size};
}

// What stays whole from forward to backward is gathered once for both.
std::optional<int> FullySharded::gathers() const {
  if (options_.strategy != ShardingStrategy::shard_grad_op) return std::nullopt;
  return context_.options.training.gradient_accumulation;
}

StateBytes FullySharded::theory(std::int64_t elements) const {
  return state_theory(elements, context_.options.model.precision, shares());
}

void FullySharded::after_update() {
  if (!never_sharded()) return;
  for (const auto& unit : units_) unit->flat.refresh();
}

std::unique_ptr<Strategy> Fsdp::make(const StrategyContext& context) {
  return std::make_unique<FullySharded>(context);
}

}  // namespace lockstep::trainer

#include "reference_trainer/modes/zero/zero_strategy.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "reference_trainer/distributed/communicator.h"
#include "reference_trainer/model/model.h"

namespace lockstep::trainer {

using annotations::Scope;

namespace {

constexpr std::uint64_t kZeroGroup = 1;

annotations::Group all_ranks(int world_size) {
  annotations::Group group{kZeroGroup, "zero", std::vector<int>(static_cast<std::size_t>(world_size))};
  std::iota(group.ranks.begin(), group.ranks.end(), 0);
  return group;
}

// Reductions that may run while backward goes on: DeepSpeed has two buffers at stages 1 and 2, and two events
// at stage 3.
std::size_t outstanding_reductions(int stage) {
  return stage == 3 ? 2 : 1;
}

}  // namespace

ZeroStrategy::ZeroStrategy(const StrategyContext& context) : context_(context), pass_(pass_context(context)) {
  broadcast_parameters(context);
  const int rank = context.placement.rank, size = context.placement.world_size;
  group_ = std::make_unique<CollectiveGroup>(*context.communicator, all_ranks(size));
  std::vector<at::Tensor> parts;
  for (int part = 0; part < model().parts(); ++part) {
    const std::vector<Parameter> of_part = model().parameters_of(part);
    counts_.push_back(of_part.size());
    for (const Parameter& parameter : of_part) {
      parts.push_back(part_of(parameter.tensor, rank, size));
      parameters_.emplace_back(parameter.tensor, compute_type(context.options.model.precision), size);
    }
  }
  optimizer_ = std::make_unique<OptimizerPartition>(
      parts, compute_type(context.options.model.precision),
      options().stage == 3 ? options().sub_group_size : std::numeric_limits<std::int64_t>::max(),
      options().offload_optimizer);

  std::vector<std::size_t> order(parameters_.size());
  std::iota(order.begin(), order.end(), 0);
  if (during_backward()) std::reverse(order.begin(), order.end());
  reducer_ = std::make_unique<GradientReducer>(
      *group_, parameters_, std::move(order), options(), outstanding_reductions(options().stage),
      [this](std::size_t parameter, const at::Tensor& part) { optimizer_->add_gradient(parameter, part); });

  pass_.hooks = {.before_forward = [this](int part) { before_part(part); },
                 .after_forward = [this](int part) { after_part(part); },
                 .before_backward =
                     [this](int part) {
                       before_part(part);
                       if (reducing_ && during_backward()) reducer_->make_room();
                     },
                 .after_backward =
                     [this](int part) {
                       if (reducing_ && during_backward()) take_gradients_of(part);
                       after_part(part);
                     }};
}

StateShares ZeroStrategy::shares() const {
  const int size = context_.placement.world_size;
  return {.parameters = options().stage >= 3 ? size : 1,
          .gradients = options().stage >= 2 ? size : 1,
          .optimizer = size};
}

StateBytes ZeroStrategy::theory(std::int64_t elements) const {
  const Precision precision = context_.options.model.precision;
  StateBytes theory = state_theory(elements, precision, shares());
  // Beside whole parameters, masters are kept apart in every precision.
  if (options().stage < 3 && precision != Precision::bfloat16)
    theory.optimizer += elements * bytes_of(precision).parameter / shares().optimizer;
  return theory;
}

double ZeroStrategy::run(BatchSource& batches) {
  optimizer_->begin_step();
  double loss = 0;
  const int micro_steps = context_.options.training.gradient_accumulation;
  for (int index = 0; index < micro_steps; ++index) loss += run_micro_step(batches.next(), index);
  optimizer_->before_update();
  return loss / micro_steps / context_.placement.world_size;
}

double ZeroStrategy::run_micro_step(const Batch& batch, int index) {
  const int micro_steps = context_.options.training.gradient_accumulation;
  reducing_ = options().stage >= 2 || index + 1 == micro_steps;
  begin_pass();
  // Sums of gradients over the ranks are then the gradient of the mean.
  const double scale = 1.0 / micro_steps / context_.placement.world_size;
  const double loss = forward_backward(pass_, batch, index, scale);
  if (!reducing_) return loss;
  if (!during_backward()) {
    most_gradient_bytes_ = 0;
    for (const PartitionedParameter& parameter : parameters_)
      most_gradient_bytes_ += parameter.gradient_bytes();
    for (int part = 0; part < model().parts(); ++part) take_gradients_of(part);
  }
  reducer_->finish();
  return loss;
}

void ZeroStrategy::take_gradients_of(int part) {
  for (std::size_t i = 0; i < counts_[static_cast<std::size_t>(part)]; ++i) reducer_->take();
}

}  // namespace lockstep::trainer

#include "reference_trainer/training/description.h"

#include <fmt/format.h>

#include "reference_trainer/data/training_data.h"
#include "reference_trainer/memory/theory.h"

namespace lockstep::trainer {

std::string describe_training(const Options& options, const Placement& placement, const Strategy& strategy,
                              std::int64_t elements) {
  const BytesPerParameter bytes = bytes_of(options.model.precision);
  const StateShares shares = strategy.shares();
  const std::int64_t own = strategy.own_elements(elements);
  // Some ways keep masters beside whole parameters, which count with the optimizer's state.
  const std::int64_t optimizer =
      own > 0 ? strategy.theory(elements).optimizer * shares.optimizer / own : bytes.optimizer;
  std::string text = fmt::format(
      "parameters={} parameter_bytes={} gradient_bytes={} optimizer_bytes={} data_parallel={} "
      "parameters_over={} "
      "gradients_over={} optimizer_over={} samples={} accumulation={}",
      own, bytes.parameter, bytes.gradient, optimizer,
      data_share(options, placement.world_size, placement.rank).size, shares.parameters, shares.gradients,
      shares.optimizer, options.training.batch_size, options.training.gradient_accumulation);
  // What stays whole from forward to backward is gathered once for both.
  if (options.mode == Mode::fsdp && options.fsdp.strategy == ShardingStrategy::shard_grad_op)
    text += fmt::format(" gathers={}", options.training.gradient_accumulation);
  return text;
}

}  // namespace lockstep::trainer

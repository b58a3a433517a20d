#include "reference_trainer/training/description.h"

#include <optional>
#include <string>

#include "reference_trainer/memory/theory.h"
#include "reference_trainer/options/mode.h"

namespace lockstep::trainer {

std::string describe_training(const Options& options, const Placement& placement, const Strategy& strategy,
                              std::int64_t elements) {
  const BytesPerParameter bytes = bytes_of(options.model.precision);
  const StateShares shares = strategy.shares();
  const std::int64_t own = strategy.own_elements(elements);
  // Some modes keep masters beside whole parameters, which count with the optimizer's state.
  const std::int64_t optimizer =
      own > 0 ? strategy.theory(elements).optimizer * shares.optimizer / own : bytes.optimizer;
  std::string text;
  const auto tell = [&text](const char* key, std::int64_t value) {
    if (!text.empty()) text += ' ';
    text.append(key).append("=").append(std::to_string(value));
  };
  tell("parameters", own);
  tell("parameter_bytes", bytes.parameter);
  tell("gradient_bytes", bytes.gradient);
  tell("optimizer_bytes", optimizer);
  tell("data_parallel", options.mode->place(options, placement.world_size, placement.rank).replicas);
  tell("parameters_over", shares.parameters);
  tell("gradients_over", shares.gradients);
  tell("optimizer_over", shares.optimizer);
  tell("samples", options.training.batch_size);
  tell("accumulation", options.training.gradient_accumulation);
  if (const std::optional<int> gathers = strategy.gathers()) tell("gathers", *gathers);
  return text;
}

}  // namespace lockstep::trainer

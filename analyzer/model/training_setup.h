// What a program says about its own training, so that what was measured can be held against theory
// (docs/instrumentation.md, "What is trained, and how").
#pragma once

#include <cstdint>
#include <optional>

namespace lockstep::analyzer {

// Each as the program told it; absent where it did not.
struct TrainingSetup {
  std::optional<std::int64_t> parameters;  // Ψ: of the model; with model parallelism, of this rank's part
  // Bytes of one parameter, of its gradient, and of the optimizer's state for it.
  std::optional<std::int64_t> parameter_bytes, gradient_bytes, optimizer_bytes;
  std::optional<std::int64_t> data_parallel;  // n: ranks that see different samples
  // Over how many ranks each is divided; told singly or as one of ZeRO's stages.
  std::optional<std::int64_t> parameters_over, gradients_over, optimizer_over;
  std::optional<std::int64_t> gathers, reductions;  // of each parameter, of its gradient, in a step
  std::optional<std::int64_t> samples;              // B: of a microbatch
  std::optional<std::int64_t> accumulation;         // microbatches of a step

  friend bool operator==(const TrainingSetup&, const TrainingSetup&) = default;
};

}  // namespace lockstep::analyzer

#include "reference_trainer/memory/theory.h"

#include <fmt/format.h>

namespace lockstep::trainer {
namespace {

std::string megabytes(std::int64_t bytes) {
  return fmt::format("{:.2f} MB", static_cast<double>(bytes) / 1e6);
}

}  // namespace

BytesPerParameter bytes_of(Precision precision) {
  switch (precision) {
    case Precision::float32:
      return {4, 4, 8};
    case Precision::float64:
      return {8, 8, 16};
    case Precision::bfloat16:
      return {2, 2, 12};
  }
  return {};
}

StateBytes state_theory(std::int64_t parameters, Precision precision, const StateShares& shares) {
  const BytesPerParameter bytes = bytes_of(precision);
  return {.parameters = parameters * bytes.parameter / shares.parameters,
          .gradients = parameters * bytes.gradient / shares.gradients,
          .optimizer = parameters * bytes.optimizer / shares.optimizer};
}

std::string describe(const StateBytes& measured, const StateBytes& theory) {
  return fmt::format("memory: parameters {}, gradients {}, optimizer {} of rank 0; together {}, in theory {}",
                     megabytes(measured.parameters), megabytes(measured.gradients),
                     megabytes(measured.optimizer), megabytes(measured.total()), megabytes(theory.total()));
}

}  // namespace lockstep::trainer

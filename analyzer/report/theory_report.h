// What theory gives of a job beside what was measured of it, as plain data (docs/metrics.md, "Theory"). What
// rows and formulas are in words: measure_words.h.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

namespace lockstep::analyzer {

enum class TheoryQuantity : std::uint8_t {
  parameters,  // these three in bytes, of a rank
  gradients,
  optimizer_state,
  sent_by_collectives,  // in bytes, of a step and rank
  effective_batch,      // in samples, of a step
};

// Formulas, by their numbers: Ψ are the model's parameters, n the data-parallel ranks.
struct PartOfModel {
  std::int64_t bytes = 1;  // of a parameter
  std::int64_t over = 1;   // how many ranks share them
  bool operator==(const PartOfModel&) const = default;
};
// All-reduce in a ring.
struct SentByAllReduce {
  std::int64_t reduced = 0;  // bytes of a parameter, in a step
  bool operator==(const SentByAllReduce&) const = default;
};
// Reduce-scatter and all-gather in rings of those who share, and all-reduce among their groups.
struct SentWhereShared {
  std::int64_t reduced = 0, gathered = 0;  // bytes of a parameter, in a step
  std::optional<std::int64_t> over;        // how many ranks share; absent: all n, which leaves no all-reduce
  bool operator==(const SentWhereShared&) const = default;
};
struct SamplesOfStep {
  std::int64_t samples = 0;  // of a microbatch
  std::int64_t data_parallel = 1;
  std::int64_t accumulation = 1;
  bool operator==(const SamplesOfStep&) const = default;
};
using TheoryFormula = std::variant<PartOfModel, SentByAllReduce, SentWhereShared, SamplesOfStep>;

// A quantity that theory gives, beside what was measured of it.
struct TheoryReport {
  TheoryQuantity quantity = TheoryQuantity::parameters;
  std::optional<std::int32_t> rank;  // of a rank's quantity
  std::optional<double> measured;
  double theory = 0;
  TheoryFormula formula;
  std::optional<double> ratio() const {
    return measured && theory > 0 ? std::optional(*measured / theory) : std::nullopt;
  }
};

}  // namespace lockstep::analyzer

// How long a rank computes in each part of the model, beside the other ranks: docs/metrics.md, "Where a rank
// computes longer".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::analyzer {

// Both times are in ns, over all steps that are compared.
struct ComparedPart {
  std::string module;       // "layers.7.mlp", without the modules in it; "": in no module
  std::string operation;    // with a module: that most of the difference is in, or ""; else the part itself
  bool is_rest = false;     // all parts that have no row of their own
  std::int64_t own_ns = 0;  // of the rank
  std::int64_t others_ns = 0;  // Σ over steps of the lower median of the others
  std::int64_t excess_ns() const { return own_ns - others_ns; }
  friend bool operator==(const ComparedPart&, const ComparedPart&) = default;
};

struct ComparedParts {
  std::int64_t steps = 0;   // that are compared
  std::int32_t others = 0;  // how many other ranks were looked at
  // Greatest excess first, the rest last. Their own_ns add up to all that the rank computed in modules or
  // operators in these steps. Empty: of one of the ranks that are compared no parts were recorded.
  std::vector<ComparedPart> rows{};
  friend bool operator==(const ComparedParts&, const ComparedParts&) = default;
};

// "layers.7.mlp", "aten::addmm" where no modules are known, "the rest", "in no module": for a cell of a
// table.
std::string name_of(const ComparedPart& part, const ComparedParts& all);
// "+3.00 ms (+30.0 %)" a step, "+9.00 ms (4.0 times)", "+3.00 ms" where the others do not have the part. ""
// of no steps.
std::string describe_difference(const ComparedPart& part, const ComparedParts& all);

}  // namespace lockstep::analyzer

// Where does a rank compute longer than the others? By module, and within it by operator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/model/job.h"
#include "analyzer/operators/part_table.h"
#include "analyzer/operators/parts_of_ranks.h"

namespace lockstep::analyzer {

struct SlowPart {
  std::string module;          // "layers.7.mlp"; empty: no module alone
  std::string operation;       // "aten::addmm"; empty: no operator alone
  bool is_outside = false;     // most of it in no operator: in the module's own code
  std::int64_t excess_ns = 0;  // mean over steps of the rank's time beyond the median of the others
  std::int64_t own_ns = 0;     // median over steps of the rank's …
  std::int64_t others_ns = 0;  // … and of the others' median
};

struct PartComparison {
  bool known = false;  // all compared ranks have modules or operators
  std::optional<SlowPart> slow;
  // Where no part stands out: the parts take longer alike. By how much, as shares of the others' time: of the
  // middle half of the modules (of the operators, where there are no modules).
  bool alike = false;
  double least = 0, most = 0;
  ComparedParts table;         // of all parts
  std::int64_t longer_ns = 0;  // Σ over the parts of the table that take longer, a step
};

// A module is its own computation and that of all below it, forward and backward. It is named if it holds
// kHolds of the excess, and of what all parts take longer together, and what lies outside of it takes at most
// half as much longer, in relation; and of such modules the innermost in which most of that still is. Within
// it an operator is named that holds kHolds of the module's excess.
PartComparison compare_parts(const Job& job, const SlowPartQuestion& question);

}  // namespace lockstep::analyzer

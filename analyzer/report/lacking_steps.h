// Ranks with a record that lacks many of the steps which others have: whether these are late nobody judges.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

struct LackingSteps {
  std::int64_t all = 0;  // steps that lateness is judged by: the steady ones, or those looked at
  struct Rank {
    std::int32_t rank = 0;
    std::int64_t steps = 0;  // of these
  };
  std::vector<Rank> ranks;           // in the report's order
  std::vector<std::int64_t> common;  // steps that every rank has, ascending
  bool any() const { return !ranks.empty(); }
  bool has(std::int32_t rank) const;
};

// As make_step_table (analyzer/lateness/step_table.h) leaves them out: fewer than nine in ten steps. Not of
// damaged traces, of which the report says so; none where one rank alone left a record, or the
// ranks' steps do not go together.
// O(steps of all ranks · log(steps)).
LackingSteps ranks_lacking_steps(const Report& report);

// What stands in a verdict, in two parts of which the first may stand out: "Whether rank 3 is late can't be
// told" and ": only 5 of 60 steps of it are known. A record of …". Precondition: any().
struct LackingStepsWords {
  std::string what, why;
};
LackingStepsWords words_for(const LackingSteps& lacking, const Report& report);

}  // namespace lockstep::analyzer

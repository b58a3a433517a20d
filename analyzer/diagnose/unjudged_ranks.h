// Ranks that left a record, of whom too few steps are known to say whether they are late.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

struct UnjudgedRanks {
  std::vector<std::int32_t> ranks;  // ascending
  // How long others waited for them, in ns: outside of compute, without what a pipeline's schedule makes.
  std::int64_t waited_for_ns = 0;

  // Whether most of so much waiting was for them: whose fault it is nobody can tell then.
  bool had_most_of(std::int64_t waiting_ns) const;
};

// Those of the report's ranks that its lateness leaves out. None where it judges nobody.
UnjudgedRanks unjudged_ranks(const Report& report);

}  // namespace lockstep::analyzer

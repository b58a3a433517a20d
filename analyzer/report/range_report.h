// Every rank's time within one stretch of it: what `lockstep analyze --range` prints, and what the viewer
// shows of a range that was dragged.
#pragma once

#include <iosfwd>
#include <vector>

#include "analyzer/report/page.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

inline constexpr const char* kRangeSchema = "lockstep.range/2";

struct RangeReport {
  std::int64_t begin_ns = 0, end_ns = 0;  // since the run's earliest device activity
  struct Rank {
    std::int32_t rank = 0;
    Measures measures;  // window_ns: the range, without what nobody recorded
  };
  std::vector<Rank> ranks;
};

// {"schema", "begin_ns", "end_ns", "ranks": [{"rank", the measures of ranks[] of lockstep.report/2}]}
void write_json(const RangeReport& report, std::ostream& out);
// A table of ranks: what each one's time went to.
void print_range(const RangeReport& report, Page& page);

}  // namespace lockstep::analyzer

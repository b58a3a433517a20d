// Reports made by hand, for tests: small enough to check every printed figure by eye.
#pragma once

#include "analyzer/report/report.h"
#include "analyzer/report/text.h"

namespace lockstep::analyzer {

// Two hosts, three ranks, two steps; rank 2 is late twice, once within clock error; one collective without a
// size, one partial; one finding; a name with a terminal escape in it.
Report small_report();

// `ranks` ranks with windows from 10 to 11 ms; rank 3 is waited for by all; rank 5 has the shortest window.
Report wide_report(std::int32_t ranks);

// One rank, `steps` steps of 10 ms, step 7 lasts 30 ms.
Report long_report(std::int64_t steps);

// An account of `ranks` ranks over 100 s: rank r starts up for r + 1 s (the 51st as the first), the last one
// saves a checkpoint for 10 s, all else is steady.
AccountReport account_of_ranks(std::int32_t ranks);

// The report on a page that wide, in columns.
inline std::string text_of(const Report& report, std::size_t width) {
  TextOptions options;
  options.page.width = width;
  return to_text(report, options);
}

}  // namespace lockstep::analyzer

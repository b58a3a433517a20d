// Reports made by hand, for tests: small enough to check every printed figure by eye.
#pragma once

#include "analyzer/report/report.h"

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

}  // namespace lockstep::analyzer

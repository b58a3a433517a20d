// What of a rank's activities communicates, once all are read: kernels that compute and communicate at once,
// and what the user says.
#pragma once

#include "analyzer/import/rank/communication_patterns.h"
#include "analyzer/import/rank/rank_import.h"

namespace lockstep::analyzer {

// Computations, copies and unclassified activities that the patterns name become communication. A kernel that
// is known to compute and to communicate stays what it is and gets a second activity of the same time on a
// lane of its own, so that both C and M cover it (docs/metrics.md, "Activities"); a warning says how many and
// how long. `patterns` may be null.
void settle_communication(RankImport& rank, const CommunicationPatterns* patterns);

}  // namespace lockstep::analyzer

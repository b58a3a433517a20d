// Who was waited for, and what it was doing instead.
#pragma once

#include <functional>
#include <stop_token>
#include <vector>

#include "analyzer/diagnose/diagnosis.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// blame(q) = Σ over operations in which q is the one waited for, of the others' waits. Greatest first; ranks
// that nobody waited for are left out. With the root cause in words where the delays show one;
// BlameReport::persistent is left for settle_lateness (accusation.h).
std::vector<BlameReport> assign_blame(const Diagnosis& diagnosis, const Report& report,
                                      const std::stop_token& stop = {});

// What the others waited in one operation for the rank that came last, and what of that their compute did not
// hide.
std::int64_t blame_in(const CollectiveReport& collective);
std::int64_t exposed_in(const CollectiveReport& collective);

// What made a rank late, over all operations that waited for it.
struct LateCause {
  Cause cause = Cause::other;
  bool entered_late = false;         // not a cause within the recording (Delay::entered_late)
  std::int64_t operations = 0;       // in which this cause explains most of it
  std::int64_t blame_ns = 0;         // waits of the others in these
  std::vector<const Delay*> delays;  // of these, the costliest first
};
// By blame, greatest first; a chain of waits counts for what started it. `counts` chooses operations; none:
// all.
std::vector<LateCause> causes_of_lateness(
    const Diagnosis& diagnosis, const Report& report, std::int32_t rank,
    const std::function<bool(const CollectiveReport&)>& counts = nullptr);

}  // namespace lockstep::analyzer

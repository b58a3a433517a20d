// Why was a collective's last arriver late? As the report has it (analyzer/diagnose/delays.h): since the
// ranks last left an operation of the group together, what did it spend more time on than the median of the
// others? For one collective, when it is looked at; of many ranks a sample of the others is asked.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/report/report.h"
#include "viewer/timeline/timeline.h"

namespace lockstep::viewer {

class Scene;

struct Lateness {
  analyzer::Cause cause = analyzer::Cause::other;
  TimeRange since;  // from leaving that operation until it came, of the late rank
};

// `last`: the late rank's part in the collective. Nothing where there was no such operation before, or where
// no cause explains a quarter of the longest wait.
std::optional<Lateness> lateness_of(const Scene& scene, const Item& last, std::uint32_t collective);

}  // namespace lockstep::viewer

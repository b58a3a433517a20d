// The real steps above the ideal ones: what would be left if every rank computed as long as all do on average
// and nobody waited, and what if data moved in no time as well. The ancestor is the imbalance diagram of
// Intel's Trace Analyzer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/report/report.h"
#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

// One bar: parts of it by cause, in ns, means over ranks (or of one).
struct ImbalanceBar {
  std::string label;
  analyzer::Partition parts;
  std::int64_t total_ns = 0;
};

struct Imbalance {
  std::int64_t real_ns = 0;      // the longest rank's window, or that of the step
  std::int64_t balanced_ns = 0;  // mean compute and everything else but waiting: no rank is later than others
  std::int64_t ideal_ns = 0;     // mean compute alone: nothing else shows
  std::vector<ImbalanceBar> bars;   // these, real first
  std::vector<ImbalanceBar> ranks;  // each rank's, in order
  std::int64_t mean_compute_ns = 0;
  // False where nobody knows how much of these ranks' communication is waiting: then `balanced_ns` says
  // nothing, and has no bar.
  bool waits_known = true;
};

// Of one step (its number), or of the ranks' whole windows. Absent where no rank's measures are known, or no
// rank has the step.
std::optional<Imbalance> imbalance_of(const Scene& scene, std::optional<std::int64_t> step);

// "With the same work spread evenly, …, ranks would be done 120 ms sooner (8.1 %)." And how much of that is a
// pipeline's bubble, some of which its schedule makes of any work.
std::string sentence(const Imbalance& imbalance);

}  // namespace lockstep::viewer

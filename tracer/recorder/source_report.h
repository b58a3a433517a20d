// What became of every source in a run, for its manifest: also of those of which nothing came, and why.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tracer/recorder/manifest.h"

namespace lockstep::tracer::record {

struct SourceReport {
  std::string state;   // "recorded", "absent", "not asked for", "failed", …
  std::string reason;  // of a state that is not "recorded"; may be empty
  std::vector<std::string> could_not_record;
};

// By name, in the order of kSourceNames. While the job runs only of those of which something is
// known.
std::vector<std::pair<std::string, SourceReport>> report_sources(const Manifest& manifest);

}  // namespace lockstep::tracer::record

// A scaling study for people and for machines.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyzer/report/page.h"
#include "analyzer/scaling/scaling.h"

namespace lockstep::analyzer {

// "On 8 ranks a step takes 131 ms, on 1 rank 100 ms: scaling efficiency 76.3 % (74.1 to 78.5 %), lost above
// all to transfer (+21.0 ms)."
std::string headline(const Scaling& scaling);

// For a terminal or a job's log; ends in a new line.
std::string to_text(const Scaling& scaling, const PageOptions& options);
// `lockstep.scale/1` (docs/scale.md).
nlohmann::ordered_json to_json(const Scaling& scaling);
// One page with a chart, that needs nothing else.
std::string to_html(const Scaling& scaling);

}  // namespace lockstep::analyzer

// Sentences about a scaling study, the same in every output.
#pragma once

#include <string>
#include <vector>

#include "analyzer/scaling/scaling.h"

namespace lockstep::analyzer {

std::string format_percent(double ratio);  // "76.3 %"
std::string interval_text(
    const Estimate& estimate);  // "74.1 to 78.5 %"; "" where it is not known, or says nothing
const char* label_of(const Scaling& scaling, Cause cause);
// Causes that some size loses to or gains by, the greatest loss of the largest size first.
std::vector<Cause> causes_that_changed(const Scaling& scaling);
// "weak scaling, told from the compute of a rank: --strong if the whole job's batch stays the same"
std::string kind_text(const Scaling& scaling);
// What limits what was measured: shared cores, one run a size.
std::vector<std::string> remarks(const Scaling& scaling);
std::string message_text(const MessageLaw& law);
std::string speedup_text(const Scaling& scaling);  // "" without a law

}  // namespace lockstep::analyzer

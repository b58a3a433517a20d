// Whether a run went to its end, with all that it recorded: figures of another one are of a part of it.
#pragma once

#include <string>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Why it did not: the title of the finding that says that it hung, failed or was interrupted, or that files
// are damaged or have no end. "" of a whole one. That ranks left no trace is not looked at
// (Report::ranks_missing).
std::string why_not_whole(const Report& report);

}  // namespace lockstep::analyzer

// Runs that are given by their paths, before any of them is read.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace lockstep::cli {

// That none is given twice, by its name, through a link or from another folder: it would look like two runs
// that agree. What copies of a run have in common only their content tells.
Status check_different_paths(std::vector<std::string> paths, const std::vector<std::string>& others = {});

}  // namespace lockstep::cli

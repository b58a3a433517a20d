// The small job of the tests that measure on the paced device, whose layers take as long as they are told to.
#pragma once

#include <string>
#include <vector>

#include "tests/end_to_end/support.h"

namespace lockstep::end_to_end {

struct PacedJob {
  int ranks = 2;
  int layers = 1;
  int steps = 1;
  double forward_seconds = 0.01;  // of one layer; its backward takes twice that
};

// `lockstep record --force -o run_path -- lockstep train --device paced …`, `more` at its end.
Outcome record_paced(const PacedJob& job, const std::string& run_path, const std::vector<std::string>& more);

}  // namespace lockstep::end_to_end

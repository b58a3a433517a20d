// Ranks whose device stands still: what all the others of a group have ended, it has not.
#pragma once

#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

struct StuckDevice {
  std::size_t rank = 0;     // index into Job::ranks
  OpenOperation operation;  // the first of them
  std::size_t operations = 0;
};

// Of operations in which every rank needs every other, and whose ends the sources know: an end on another
// rank says that this rank's part was done. Two of them at least, and not on a CPU. At most one a rank, in
// the order of ranks.
std::vector<StuckDevice> find_stuck_devices(const Job& job);

}  // namespace lockstep::analyzer

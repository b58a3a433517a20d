// What new and delete (operators.cpp) ask at each call.
#pragma once

#include <atomic>

#include "cli/analysis/memory_limit/pressure.h"
#include "cli/analysis/memory_limit/spill_space.h"

namespace lockstep::cli {

// Ready before the first constructor runs, and there until the process ends: blocks are given back after the
// last destructor too.
union LargeBlocks {
  constexpr LargeBlocks() : space() {}
  ~LargeBlocks() {}  // NOLINT(modernize-use-equals-default): deleted then
  SpillSpace space;
};
extern constinit LargeBlocks large_blocks;
// Null: nothing limits this process. Never deleted: blocks are taken until the process ends.
extern constinit std::atomic<Pressure*> pressure;

}  // namespace lockstep::cli

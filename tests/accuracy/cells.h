// Which cells a count of the accuracy table has, and how many jobs each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/accuracy/suite.h"

namespace lockstep::accuracy {

// What is empty or 0 is as many as the table has.
struct CellChoice {
  std::string what = "null";  // or "planted"
  std::int64_t jobs = 0;      // of each cell
  std::vector<std::int32_t> ranks{};
  std::vector<int> steps{};
  std::vector<double> effects{}, levels{};  // shares of a step; level 0: as recorded
  std::vector<std::string> faults{};
  bool full = false;  // the whole table: hours
  bool as_drawn = false;
};

// By fault, then level, effect, ranks and steps. Without `full` the expensive cells of healthy jobs are left
// out.
std::vector<Cell> cells_of(const CellChoice& choice);

}  // namespace lockstep::accuracy

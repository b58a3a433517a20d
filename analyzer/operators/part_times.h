// How long a rank computed in each module and operator, in each step.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// The innermost module and the outermost operator within it; 0: none. StringTable ids.
struct Part {
  std::uint32_t module = 0;
  std::uint32_t operation = 0;
  friend auto operator<=>(const Part&, const Part&) = default;
};
// ns of each step, in the order asked for.
using PartTimes = std::map<Part, std::vector<std::int64_t>>;

bool has_modules(const PartTimes& parts);

// Of a CPU: of the time that a part was what its thread was in, what the rank computed (its computations on
// lanes of threads); waiting within a module does not count. Where operators themselves are the computations
// (a profile of the CPU alone) each is whole of the module in which it begins. Of a device: the kernels that
// were launched then, whole, whatever the thread. Each instant of a thread is of one part, and of the step in
// whose host range the part's piece begins; a kernel is of the step that launched it. Steps that the rank
// does not have stay 0.
PartTimes times_of_parts(const RankTrace& rank, const StringTable& strings,
                         std::span<const std::int64_t> steps);

}  // namespace lockstep::analyzer

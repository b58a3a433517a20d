// Which ranks a dump may be of, by what it holds.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/import/flight_recorder/dump.h"

namespace lockstep::analyzer::flight_recorder {

// The ranks that are members of all its groups and, where it names messages ("nccl:recv 3<-2": ranks of the
// group, its own first), have that place in their groups. Sorted; empty where it tells nothing, or
// contradicts itself. `damaged`: a list may lack its end.
std::vector<std::int32_t> possible_ranks(const Dump& dump, bool damaged);

// Whether what the rank of the dump did (its calls, not the groups that it merely lists) may be that of
// `rank`, which one of its groups has: what to hold a name against that the recorder itself gave.
bool calls_may_be_of(const Dump& dump, bool damaged, std::int32_t rank);

}  // namespace lockstep::analyzer::flight_recorder

// Kernels that behave as collectives do and are not known as such: ranks come to them at different times and
// leave them together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

struct RendezvousName {
  std::uint32_t name = 0;            // Job::strings
  std::int64_t count = 0;            // runs on each rank
  std::int64_t total_ns = 0;         // Σ of all runs on all ranks
  std::int64_t begins_apart_ns = 0;  // at most, between the first and the last rank of one run
  std::int64_t ends_apart_ns = 0;
};

// Of computations and unclassified activities, most time first. A name counts where every rank with
// activities has equally many runs of it, 4 at least; where Σ over runs of how far ranks' ends are apart is
// at most a quarter of the same of their begins; and where their begins are apart by a fifth of the longest
// run or more, in the sum. Only ranks whose clocks are related. O(activities).
std::vector<RendezvousName> rendezvous_names(const Job& job);

// A regular expression (RE2) that finds the kernel's name: its function, without template arguments.
std::string expression_for(std::string_view name);

}  // namespace lockstep::analyzer

// Kernels that look like communication by their names and are of no library that is known: in no class, and
// counted as `other` where nothing else runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/model/job.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

struct NamedAlike {
  std::uint32_t name = 0;     // Job::strings
  std::int64_t count = 0;     // on all ranks looked at
  std::int64_t total_ns = 0;  // Σ of their durations
};

// Of one rank, most time first. Graphs traced as a whole, and kernels without a name, are no such kernels.
// O(activities).
std::vector<NamedAlike> named_alike(const RankTrace& rank, const StringTable& strings);
// Of all ranks.
std::vector<NamedAlike> named_alike(const Job& job);

// Σ over the ranks' known windows (steps, where there are any) of the time in which such a kernel runs.
struct NamedAlikeTime {
  std::int64_t all_ns = 0;
  std::int64_t alone_ns = 0;  // nothing of any class beside it: all of it is of cause `other`
};
NamedAlikeTime named_alike_time(const Job& job, const Report& report);

// "allreduce_LL_1node" of "void allreduce_LL_1node<__half>(mscclpp::Handle*)": the first three names.
std::string functions_of(const std::vector<NamedAlike>& names, const StringTable& strings);

}  // namespace lockstep::analyzer

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

struct RendezvousSearch {
  std::vector<RendezvousName> names;        // most time first
  std::vector<RendezvousName> of_few_runs;  // behave so in two or three runs, which may be chance
  bool clocks_related = true;               // those of all ranks with activities: else ends can't be compared
  bool enough_runs = false;                 // some name has as many runs on each rank as it takes
};

// Of computations and unclassified activities. A name counts where every rank with activities has equally
// many runs of it, 4 at least; where Σ over runs of how far ranks' ends are apart is at most a quarter of the
// same of their begins; and where their begins are apart by a fifth of the longest run or more, in the sum.
// Only ranks whose clocks are related. O(activities).
RendezvousSearch search_rendezvous(const Job& job);

// The same beside communication that is known, of computations on devices that take at least `least_ns`
// (above 0) in all. Stricter, because healthy kernels may look alike there: half of the runs, and 4 at least,
// begin apart and end together each for itself, four times as many as do not end together; and no more than a
// quarter of the runs have known communication beside them, for whose end a kernel without free
// multiprocessors waits. Nothing where the clocks of a rank are not related, where ranks are known to share a
// GPU, and where more than three names behave so: then something else makes kernels end together.
std::vector<RendezvousName> rendezvous_beside_known(const Job& job, std::int64_t least_ns);

// What may communicate, told without a common clock: a name of which all ranks with activities have equally
// many runs, two at least, and whose runs differ on half of the ranks or more: from the first to the third
// quartile by a third of the median, as where a kernel waits for others.
struct VaryingName {
  std::uint32_t name = 0;  // Job::strings
  std::int64_t count = 0;  // runs on each rank
  std::int64_t total_ns = 0;
};
// Those that take `least_ns` at least, most time first. O(n log n) in activities.
std::vector<VaryingName> varying_names(const Job& job, std::int64_t least_ns);

// The name without return type, nameless namespaces, template arguments and parameters; all of it where
// nothing were left.
std::string_view function_of(std::string_view name);

// A regular expression (RE2) that finds the kernel's name by its function.
std::string expression_for(std::string_view name);

// "--communication 'mylib::ring=all_reduce'", as a shell takes it. Where the name does not say which
// operation it is, that is taken for an all-reduce.
std::string communication_flag(std::string_view name);

}  // namespace lockstep::analyzer

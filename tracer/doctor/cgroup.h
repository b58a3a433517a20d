// The limits that control groups set for this process: version 2, or version 1 where a controller is there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tracer/doctor/machine.h"

namespace lockstep::tracer::doctor {

struct CgroupLimits {
  std::optional<double> processors;  // quota over period; none: no limit
  std::uint64_t periods = 0;         // of the quota, so far
  std::uint64_t throttled = 0;       // those in which it was used up
  std::optional<std::uint64_t> memory;
  std::uint64_t memory_used = 0;
  std::optional<std::uint64_t> tasks;
  std::uint64_t tasks_used = 0;
};

// The tightest limit of the process' own group and of all groups above it that can be seen.
CgroupLimits read_cgroup_limits(const Machine& machine);

// The path of a controller's group in /proc/self/cgroup ("" for version 2's); nothing if it isn't there.
std::optional<std::string> cgroup_path(std::string_view proc_self_cgroup, std::string_view controller);
// "max 100000", "200000 100000": processors.
std::optional<double> parse_cpu_max(std::string_view text);

}  // namespace lockstep::tracer::doctor

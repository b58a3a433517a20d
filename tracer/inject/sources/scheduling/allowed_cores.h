// Which cores a thread may run on, and how much of their time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep::tracer::scheduling {

struct AllowedCores {
  std::uint32_t count = 0;  // 0: not known
  std::string set;          // "0-3,8"
  double quota = 0;         // cores' time of the control group; 0: no limit, or not known
};

// As the system says now: sched_getaffinity, and the quotas of the process's control group and those above
// it.
AllowedCores read_allowed_cores(std::uint32_t thread);

// "0-3,8" of a mask: bit n of byte n / 8.
std::string text_of_mask(std::string_view mask, std::uint32_t& count);
// The cores' time in a cgroup's cpu.max, "150000 100000"; 0 for "max …" and for what cannot be read.
double parse_cpu_max(std::string_view text);
// The path in the lines of /proc/self/cgroup: of version 2 ("0::/a/b"); empty where there is none.
std::string_view cgroup_path(std::string_view lines);

}  // namespace lockstep::tracer::scheduling

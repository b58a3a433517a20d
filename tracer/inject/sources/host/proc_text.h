// The kernel's text files, read: pure functions of text. What isn't there, or isn't as it should be, is
// nothing: a counter that is not known has no point, never a zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lockstep::tracer::host {

using Amount = std::optional<std::uint64_t>;

// "4711\n": one number and nothing else.
Amount parse_number(std::string_view text);

// /proc/PID/task/TID/schedstat.
struct ScheduleTimes {
  std::uint64_t running_ns = 0;
  std::uint64_t waiting_ns = 0;  // runnable, but not running
};
std::optional<ScheduleTimes> parse_schedstat(std::string_view text);

// The processor on which a thread last ran, from its stat file. The command's name in it may hold anything.
Amount parse_processor(std::string_view stat);

// Resident pages, from statm.
Amount parse_resident_pages(std::string_view statm);

// How often a thread was moved to another processor, from its sched file.
Amount parse_migrations(std::string_view sched);

// Microseconds in which some thread waited, from /proc/pressure/*.
Amount parse_pressure(std::string_view text);

}  // namespace lockstep::tracer::host

// What the user asked to be recorded, as `lockstep record` passes it to the processes of the job: in
// LOCKSTEP_* variables. Used on both sides.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::tracer::control {

// Both ends included, as in `lockstep analyze --steps`.
struct StepRange {
  std::int64_t first = std::numeric_limits<std::int64_t>::min();
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
};

struct Plan {
  std::optional<StepRange> steps;    // LOCKSTEP_STEPS "100:110"
  std::int64_t start_realtime = 0;   // LOCKSTEP_START: when the job began, ns since 1970
  std::int64_t delay_ns = 0;         // LOCKSTEP_DELAY, in seconds, after the job's start
  std::int64_t duration_ns = 0;      // LOCKSTEP_DURATION, in seconds; 0: no limit
  std::uint64_t max_bytes = 0;       // LOCKSTEP_MAX_SIZE, in bytes, of a process' file; 0: no limit
  std::int64_t ring_ns = 0;          // LOCKSTEP_RING, in seconds; 0: everything goes to the file
  std::uint64_t ring_memory = 0;     // LOCKSTEP_RING_MEMORY, in bytes
  double ring_factor = 2;            // LOCKSTEP_RING_FACTOR, of the median step
  std::int64_t hang_timeout_ns = 0;  // LOCKSTEP_HANG_TIMEOUT, in seconds; 0: hangs are not looked for
  // LOCKSTEP_SURVIVE_KILL "1": a survivor writes the last moment (inject/survivor/survivor.h)
  bool survive_kill = false;
  std::vector<std::string> problems;  // variables that could not be understood, and were ignored

  bool needs_steps() const { return steps.has_value() || ring_ns > 0 || hang_timeout_ns > 0; }
};

inline constexpr std::uint64_t kDefaultRingMemory = std::uint64_t{32} << 20U;
inline constexpr std::uint64_t kLeastRingMemory = std::uint64_t{1} << 20U;

// `lookup` returns a variable's value or nullptr, as getenv does.
Plan plan_from(const std::function<const char*(const char*)>& lookup);
// The variables that say so, for plan_from().
std::vector<std::pair<std::string, std::string>> to_environment(const Plan& plan);

// "3", "3:5", "3:" and ":5"; nothing where the text is none of these, a number is negative, or the first step
// is greater than the last.
std::optional<StepRange> parse_steps(std::string_view text);
std::string to_string(const StepRange& steps);
// "30", "30s", "2.5s", "500ms", "2m", "1h": nanoseconds. Nothing for anything else, for negative times and
// for those beyond ten years.
std::optional<std::int64_t> parse_duration(std::string_view text);
// Seconds, exactly: "2.5".
std::string to_seconds(std::int64_t nanoseconds);
// A number above 1: "2", "1.5".
std::optional<double> parse_factor(std::string_view text);
// "64MiB", "1GB", "1.5 GB", "512kB", "4G" (as 4GB): bytes; a bare number counts in `unit` bytes. Nothing for
// anything else, and for sizes of which there is none (0, 2^63 and more).
std::optional<std::uint64_t> parse_size(std::string_view text, std::uint64_t unit);
// "1" or "0".
std::optional<bool> parse_flag(std::string_view text);
// A name of `list` (separated by commas, blanks around them do not count) that is no source's; nothing if all
// are.
std::optional<std::string> unknown_source(std::string_view list);
// Whether `name` is in such a list.
bool names_source(std::string_view list, std::string_view name);

}  // namespace lockstep::tracer::control

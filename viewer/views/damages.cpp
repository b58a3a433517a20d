#include "viewer/views/damages.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace lockstep::viewer {

namespace {

// A message may be of any length; nobody reads more than this.
constexpr std::size_t kLongest = 1'000;

// Warnings of an import that lost nothing: how it understood what it read (docs/metrics.md, Warnings).
constexpr std::array<std::string_view, 13> kAssumptions{
    "clocks_assumed",        "clocks_by_happened_before", "clocks_by_wall_clock",
    "ranks_assumed",         "rank_from_file_name",       "job_restarted",
    "files_left_out",        "no_steady_steps",           "file_repeated",
    "steps_found",           "fused_communication",       "profile_cycles",
    "communication_left_out"};

bool is_assumption(std::string_view code) {
  return std::find(kAssumptions.begin(), kAssumptions.end(), code) != kAssumptions.end();
}

}  // namespace

Damages damages_of(const Scene& run, const Scene* other) {
  Damages found;
  const analyzer::Warning* worst = nullptr;
  const char* of = "";
  const auto add = [&](const char* name, const analyzer::Warning& warning) {
    ++found.count;
    if (worst != nullptr && (is_assumption(warning.code) || !is_assumption(worst->code))) return;
    worst = &warning;
    of = name;
  };
  for (const Scene* const each : {&run, other}) {
    if (each == nullptr) continue;
    const char* const name = other == nullptr ? "" : each == &run ? "A: " : "B: ";
    for (const analyzer::Warning& warning : each->contents().import_warnings) add(name, warning);
    for (const char* const code : {"rank_missing", "order_only"})
      for (const analyzer::Warning& warning : each->report().warnings)
        if (warning.code == code) add(name, warning);
  }
  if (worst != nullptr) found.first = of + worst->message.substr(0, kLongest);
  return found;
}

}  // namespace lockstep::viewer

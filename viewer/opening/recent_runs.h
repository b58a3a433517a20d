// The runs that were looked at last, for the welcome page.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "viewer/opening/run_request.h"

namespace lockstep::viewer {

struct RecentRun {
  std::vector<std::string> paths;  // absolute
  std::string other;               // absolute, or ""
  std::int64_t ranks = 0;
  std::int64_t steps = 0;
  std::int64_t opened = 0;  // seconds since 1970
  bool operator==(const RecentRun&) const = default;
};

inline constexpr std::size_t kMaxRecentRuns = 20;

RecentRun recent_run_of(const OpenedRun& opened, std::int64_t now);
RunRequest request_of(const RecentRun& run);
enum class Presence : std::uint8_t { unknown, there, gone };
// gone: one of its paths does not exist; unknown: whether one does cannot be found out (no permission, a
// server that is away). Takes as long as their file systems do: see run_presence.h.
Presence presence_of(const RecentRun& run);
// "just now", "5 minutes ago", "yesterday", "12 days ago", "on 2026-03-01" (UTC).
std::string time_ago(std::int64_t then, std::int64_t now);

// With `run` in front, and nowhere else; at most kMaxRecentRuns.
std::vector<RecentRun> with_run(std::vector<RecentRun> runs, const RecentRun& run);

// As a file: a line of JSON a run, the newest first. Reading takes what it can read and passes over the rest.
// A run whose path is no UTF-8 has no line.
std::string to_text(const std::vector<RecentRun>& runs);
std::vector<RecentRun> parse_recent_runs(std::string_view text);

// $XDG_STATE_HOME/lockstep/recent-runs
std::filesystem::path recent_runs_file();
// Empty where there is none, or it cannot be read.
std::vector<RecentRun> read_recent_runs(const std::filesystem::path& file);
// Puts a run in front of the file's, or takes one out. Whole or not at all, one writer at a time (a lock file
// beside it). Errors name the file.
Status remember_run(const std::filesystem::path& file, const RecentRun& run);
Status forget_run(const std::filesystem::path& file, const RecentRun& run);

}  // namespace lockstep::viewer

#include "tracer/recorder/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <system_error>
#include <utility>

#include "base/counts.h"
#include "base/standard_streams.h"
#include "tracer/recorder/run_folder.h"

namespace lockstep::tracer::record {

Progress::Progress(std::filesystem::path folder, bool enabled)
    : folder_(std::move(folder)),
      enabled_(enabled && isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()) {}

void Progress::show() {
  if (!enabled_ || folder_.empty()) return;
  // In the background the terminal is not ours to write to.
  if (tcgetpgrp(STDERR_FILENO) != getpgrp()) return;
  const auto elapsed =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start_);
  if (elapsed < std::chrono::seconds(2)) return;
  std::size_t ranks = 0;
  std::size_t others = 0;
  std::uint64_t bytes = 0;
  for (const std::filesystem::path& file : trace_files(folder_)) {
    ++(file.filename().string().starts_with("rank-") ? ranks : others);
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    if (!error) bytes += size;
  }
  write_to_stderr(fmt::format("\r{}\033[K\r", progress_line(elapsed, ranks, others, bytes)));
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  write_to_stderr("\r\033[K");
  shown_ = false;
}

std::string progress_line(std::chrono::seconds elapsed, std::size_t ranks, std::size_t others,
                          std::uint64_t bytes) {
  std::string line = fmt::format("lockstep: {}", readable_duration(elapsed.count() * 1'000'000'000));
  if (ranks == 0 && others == 0) return line + ", nothing to record yet";
  line += " recorded";
  if (ranks != 0) line += ", " + format_plural(ranks, "rank", "ranks");
  if (others != 0) {
    line += ", " + (ranks != 0 ? format_plural(others, "other process", "other processes")
                               : format_plural(others, "process", "processes"));
  }
  return line + ", " + readable_bytes(bytes);
}

std::string readable_bytes(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  double value = static_cast<double>(bytes);
  const char* unit = "";
  for (const char* larger : {"kB", "MB", "GB", "TB"}) {
    if (value < 999.95) break;
    value /= 1000;
    unit = larger;
  }
  return fmt::format("{:.1f} {}", value, unit);
}

std::string readable_duration(std::int64_t nanoseconds) {
  if (nanoseconds < 60'000'000'000) return fmt::format("{:.1f} s", static_cast<double>(nanoseconds) / 1e9);
  const std::int64_t seconds = nanoseconds / 1'000'000'000;
  if (seconds < 3600) return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

}  // namespace lockstep::tracer::record

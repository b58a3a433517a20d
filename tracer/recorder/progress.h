// The line that a terminal shows while a job runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

namespace lockstep::tracer::record {

// Shows, on stderr, how long the run lasts and how much it has recorded: only where stderr is a terminal that
// belongs to us, and after the first two seconds. The job writes to the same terminal: the cursor is left at
// the beginning of the line, so that the job's next output replaces ours.
class Progress {
 public:
  Progress(std::filesystem::path folder, bool enabled);
  void show();
  void clear();

 private:
  std::filesystem::path folder_;
  bool enabled_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_;
};

// "lockstep: 1:02 recorded, 4 ranks, 1 other process, 3.2 MB"
std::string progress_line(std::chrono::seconds elapsed, std::size_t ranks, std::size_t others,
                          std::uint64_t bytes);

// "3.2 MB"; powers of ten, as disks are sold.
std::string readable_bytes(std::uint64_t bytes);
// "12.3 s", "4:05", "1:02:03".
std::string readable_duration(std::int64_t nanoseconds);

}  // namespace lockstep::tracer::record

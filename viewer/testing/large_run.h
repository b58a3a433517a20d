// Prepared runs of any size for benchmarks, made rank by rank: larger than memory if need be.
#pragma once

#include <cstdint>
#include <filesystem>

namespace lockstep::viewer {

struct LargeRun {
  std::int32_t ranks = 1000;
  std::int64_t events_per_rank = 50'000;  // kernels, collectives and host ranges
};

// Kernels of 1 to 40 µs on three streams and a host thread, a collective after each hundred, whose waits
// differ by rank; a step each 1,000 events. The same every time. False, with the reason on stderr, where it
// cannot be written.
bool write_large_run(const LargeRun& run, const std::filesystem::path& path);

}  // namespace lockstep::viewer

// Makes Kineto JSON of any size that looks like what torch.profiler writes for data-parallel training: nested
// operators, launches, flow arrows, kernels with long C++ names, copies, all-reduces with metadata, steps.
// For benchmarks and tests; the same arguments always make the same bytes.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"

namespace lockstep::analyzer {

struct GeneratedKineto {
  std::uint64_t least_bytes = 0;  // whole steps are written until the file is at least this long
  std::int32_t rank = 0;
  std::int32_t world_size = 8;
  bool whole_microseconds = false;
};

// What was written, counted while writing.
struct GeneratedCounts {
  std::uint64_t bytes = 0;
  std::uint64_t events = 0;
  std::uint64_t steps = 0;
  std::uint64_t kernels = 0;  // communication included
  std::uint64_t copies = 0;
  std::uint64_t all_reduces = 0;
};

Result<GeneratedCounts> generate_kineto(const std::filesystem::path& path, const GeneratedKineto& what);

}  // namespace lockstep::analyzer

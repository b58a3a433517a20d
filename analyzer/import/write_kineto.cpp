// For benchmarks of other tools: write_kineto FILE MEGABYTES RANK WORLD_SIZE writes one generated Kineto
// file.
#include <fmt/format.h>

#include <cstdlib>

#include "analyzer/import/generated_kineto.h"

int main(int argc, char** argv) {
  using namespace lockstep::analyzer;
  if (argc != 5) {
    fmt::print(stderr, "usage: write_kineto FILE MEGABYTES RANK WORLD_SIZE\n");
    return 2;
  }
  GeneratedKineto what;
  what.least_bytes = std::strtoull(argv[2], nullptr, 10) * 1'000'000;
  what.rank = static_cast<std::int32_t>(std::strtol(argv[3], nullptr, 10));
  what.world_size = static_cast<std::int32_t>(std::strtol(argv[4], nullptr, 10));
  const lockstep::Result<GeneratedCounts> counts = generate_kineto(argv[1], what);
  if (!counts.ok()) {
    fmt::print(stderr, "write_kineto: {}\n", counts.error().message);
    return 1;
  }
  fmt::print("{} bytes, {} events, {} kernels\n", counts.value().bytes, counts.value().events,
             counts.value().kernels);
  return 0;
}

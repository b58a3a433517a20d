// Writes the seeds of Kineto's fuzzer into a folder: small valid traces. Deterministic.
//
//   kineto_fuzzer_seeds FOLDER
#include <stdio.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "analyzer/import/kineto/random_trace.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    std::ofstream(folder / ("random-" + std::to_string(seed) + ".json"), std::ios::binary)
        << lockstep::analyzer::kineto::RandomTrace(seed).document();
  return 0;
}

// Fuzzes the reader of Nsight Systems' SQLite exports with libFuzzer: SQLite's own pages are as much the
// input as the rows in them. What can be read goes the whole way to a report.
//
//   cmake --preset fuzz && cmake --build build/fuzz --target nsys_fuzzer
//   build/fuzz/fuzzers/nsys_fuzzer -max_total_time=600 CORPUS
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analyzer/import/nsys/nsys.h"
#include "tests/fuzz/analyze_ranks.h"
#include "tests/fuzz/file_of_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  using namespace lockstep::analyzer;
  static const fuzz::FileOfInput file(".sqlite");
  if (!file.write(data, size)) return 0;
  Result<std::vector<RankImport>> ranks = nsys::import_file(file.path(), {.keep_host_ranges = true});
  if (ranks.ok()) fuzz::analyze_ranks(std::move(ranks).value());
  return 0;
}

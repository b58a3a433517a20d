// Fuzzes the reader of Kineto's JSON, plain and gzip, with libFuzzer. What can be read goes the whole way to
// a report, as two ranks of one job.
//
//   cmake --preset fuzz && cmake --build build/fuzz --target kineto_fuzzer
//   build/fuzz/fuzzers/kineto_fuzzer -max_total_time=600 CORPUS
#include <cstddef>
#include <cstdint>
#include <utility>

#include "analyzer/import/kineto/kineto.h"
#include "tests/fuzz/analyze_ranks.h"
#include "tests/fuzz/file_of_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  using namespace lockstep::analyzer;
  static const fuzz::FileOfInput file("-rank0.json");
  if (!file.write(data, size)) return 0;
  Result<RankImport> first = kineto::import_file(file.path(), {.keep_host_ranges = true, .progress = {}});
  Result<RankImport> second = kineto::import_file(file.path());
  fuzz::analyze_two_ranks(std::move(first), std::move(second));
  return 0;
}

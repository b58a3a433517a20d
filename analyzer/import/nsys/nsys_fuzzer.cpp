// Fuzzes the reader of Nsight Systems' SQLite exports with libFuzzer: SQLite's own pages are as much the
// input as the rows in them. What can be read goes the whole way to a report.
//
//   cmake --preset fuzz && cmake --build build/fuzz --target nsys_fuzzer
//   build/fuzz/fuzzers/nsys_fuzzer -max_total_time=600 CORPUS
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analyzer/align/align.h"
#include "analyzer/analysis.h"
#include "analyzer/import/nsys/nsys.h"
#include "analyzer/import/rank/merge.h"
#include "tests/fuzz/file_of_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  using namespace lockstep::analyzer;
  static const fuzz::FileOfInput file(".sqlite");
  if (!file.write(data, size)) return 0;
  Result<std::vector<RankImport>> ranks = nsys::import_file(file.path(), {.keep_host_ranges = true});
  if (!ranks.ok()) return 0;
  Result<Job> job = merge_ranks("fuzz", std::move(ranks).value(), {}, 0);
  if (!job.ok()) return 0;
  align_clocks(job.value(), Clocks::each_rank);
  (void)analyze(job.value());
  return 0;
}

// Fuzzes the reader of Kineto's JSON, plain and gzip, with libFuzzer. What can be read goes the whole way to
// a report, as two ranks of one job.
//
//   cmake --preset fuzz && cmake --build build/fuzz --target kineto_fuzzer
//   build/fuzz/fuzzers/kineto_fuzzer -max_total_time=600 CORPUS
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analyzer/align/align.h"
#include "analyzer/analysis.h"
#include "analyzer/import/kineto/kineto.h"
#include "analyzer/import/rank/merge.h"
#include "tests/fuzz/file_of_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  using namespace lockstep::analyzer;
  static const fuzz::FileOfInput file("-rank0.json");
  if (!file.write(data, size)) return 0;
  Result<RankImport> first = kineto::import_file(file.path(), {.keep_host_ranges = true, .progress = {}});
  Result<RankImport> second = kineto::import_file(file.path());
  if (!first.ok() || !second.ok()) return 0;
  first.value().trace.rank = 0;
  second.value().trace.rank = 1;
  first.value().rank_known = second.value().rank_known = true;
  std::vector<RankImport> ranks;
  ranks.push_back(std::move(first).value());
  ranks.push_back(std::move(second).value());
  Result<Job> job = merge_ranks("fuzz", std::move(ranks), {}, 0);
  if (!job.ok()) return 0;
  align_clocks(job.value(), Clocks::each_rank);
  (void)analyze(job.value());
  return 0;
}

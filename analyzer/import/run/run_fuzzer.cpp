// Fuzzes the import of recorded files with libFuzzer: a file with all its checksums made right, as two ranks
// of one job, the whole way to a report. trace_reader_fuzzer does the same for the reader alone, and
// checksums too.
//
//   cmake --preset fuzz && cmake --build build/fuzz --target run_fuzzer run_fuzzer_seeds
//   build/fuzz/fuzzers/run_fuzzer_seeds CORPUS
//   build/fuzz/fuzzers/run_fuzzer -max_total_time=600 -max_len=16384 CORPUS
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/align/align.h"
#include "analyzer/analysis.h"
#include "analyzer/import/rank/merge.h"
#include "analyzer/import/run/run.h"
#include "tests/fuzz/file_of_input.h"
#include "trace/file_surgery.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  using namespace lockstep::analyzer;
  static const fuzz::FileOfInput file("-rank-0.lst");
  const auto bytes = std::as_bytes(std::span(data, size));
  std::vector<std::byte> sealed(bytes.begin(), bytes.end());
  trace::test::seal(sealed);
  if (!file.write(reinterpret_cast<const std::uint8_t*>(sealed.data()), sealed.size())) return 0;
  Result<RankImport> first = run::import_file(file.path(), {true, nullptr, 0});
  Result<RankImport> second = run::import_file(file.path(), {false, nullptr, 0});
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

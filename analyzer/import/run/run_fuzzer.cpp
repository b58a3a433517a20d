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

#include "analyzer/import/run/run.h"
#include "tests/fuzz/analyze_ranks.h"
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
  fuzz::analyze_two_ranks(std::move(first), std::move(second));
  return 0;
}

// Fuzzes the reader of flight recorders' dumps, pickles and JSON, with libFuzzer. What can be read goes on to
// where ranks become a job.
//
//   cmake --preset fuzz && cmake --build build/fuzz --target flight_recorder_fuzzer
//   build/fuzz/fuzzers/flight_recorder_fuzzer -max_total_time=600 CORPUS
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/import/flight_recorder/flight_recorder.h"
#include "analyzer/import/rank/merge.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  using namespace lockstep::analyzer;
  const auto bytes = std::as_bytes(std::span(data, size));
  (void)flight_recorder::recognises({reinterpret_cast<const char*>(data), size});
  // A copy of exactly this size: reading beyond it is noticed.
  const std::vector<std::byte> file(bytes.begin(), bytes.end());
  Result<RankImport> first = flight_recorder::import_bytes(file, "nccl_trace_rank_0");
  Result<RankImport> second = flight_recorder::import_bytes(file, "nccl_trace_rank_1");
  if (!first.ok() || !second.ok()) return 0;
  std::vector<RankImport> ranks;
  ranks.push_back(std::move(first).value());
  ranks.push_back(std::move(second).value());
  (void)merge_ranks("fuzz", std::move(ranks), {}, 0);
  return 0;
}

// Fuzzes the trace reader with libFuzzer. Each input is tried as it is and once more with all its checksums
// made right, so that the fuzzer reaches what lies behind them.
//
//   cmake --preset fuzz && cmake --build build/fuzz --target trace_reader_fuzzer trace_reader_fuzzer_seeds
//   build/fuzz/fuzzers/trace_reader_fuzzer_seeds CORPUS
//   build/fuzz/fuzzers/trace_reader_fuzzer -max_total_time=600 -max_len=16384 CORPUS
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/exercise_reader.h"
#include "trace/file_surgery.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  // A copy of exactly this size: reading beyond it is noticed.
  std::vector<std::byte> file(bytes.begin(), bytes.end());
  lockstep::trace::test::exercise_reader(file);
  lockstep::trace::test::seal(file);
  lockstep::trace::test::exercise_reader(file);
  return 0;
}

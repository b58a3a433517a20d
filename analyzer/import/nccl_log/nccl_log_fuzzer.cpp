// Fuzzes the reader of NCCL's logs with libFuzzer: the input as one process' file, and cut in two as those of
// two processes.
//
//   cmake --preset fuzz && cmake --build build/fuzz --target nccl_log_fuzzer
//   build/fuzz/fuzzers/nccl_log_fuzzer -max_total_time=600 CORPUS
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "analyzer/import/nccl_log/nccl_log.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  using namespace lockstep::analyzer;
  // A copy of exactly this size: reading beyond it is noticed.
  const std::vector<char> bytes(data, data + size);
  const std::string_view text(bytes.data(), bytes.size());
  (void)nccl_log::recognises(text);
  JobGroup group;
  group.name = "nccl 0x0000000000000abc";
  group.ranks = {1, 3};
  for (const std::size_t cut : {size, size / 2}) {
    nccl_log::Log log;
    log.add_text(text.substr(0, cut), "first");
    log.add_text(text.substr(cut), "second");
    std::vector<Warning> warnings;
    for (const ChannelPath& path : log.take_paths(4, {group}, warnings))
      if (path.from < 0 || path.to < 0 || path.from == path.to || path.channels < 1) std::abort();
  }
  return 0;
}

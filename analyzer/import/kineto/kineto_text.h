// For tests: Kineto JSON written event by event, and imported.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/import/kineto/kineto.h"
#include "analyzer/import/test_files.h"

namespace lockstep::analyzer::kineto {

inline std::string event(std::string_view cat, std::string_view name, std::string_view ts,
                         std::string_view dur, int tid, std::string_view args) {
  return fmt::format(
      R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
      cat, name, cat == "kernel" || cat.starts_with("gpu_") || cat == "cuda_sync" ? 0 : 100, tid, ts, dur,
      args);
}
inline std::string kernel(std::string_view name, std::string_view ts, std::string_view dur, int correlation,
                          int stream = 7, std::string_view more = "") {
  return event("kernel", name, ts, dur, stream,
               fmt::format(R"("device": 0, "stream": {}, "correlation": {}{})", stream, correlation, more));
}
inline std::string launch(std::string_view ts, std::string_view dur, int correlation, int tid = 1,
                          std::string_view name = "cudaLaunchKernel", std::string_view cat = "cuda_runtime") {
  return event(cat, name, ts, dur, tid, fmt::format(R"("correlation": {})", correlation));
}
inline std::string annotation(std::string_view name, std::string_view ts, std::string_view dur, int tid = 1,
                              std::string_view cat = "user_annotation") {
  return event(cat, name, ts, dur, tid, "");
}
inline std::string document(const std::vector<std::string>& events,
                            std::string_view more = R"("distributedInfo": {"rank": 3, "world_size": 8})") {
  return fmt::format(R"({{"schemaVersion": 1, {}, "traceEvents": [{}]}})", more, fmt::join(events, ",\n"));
}

inline RankImport import_text(const std::string& text, Options options = {},
                              const std::string& name = "trace.json") {
  const TemporaryFolder folder;
  return must(import_file(folder.write(name, text), options));
}
inline std::string import_error(const std::string& text) {
  const TemporaryFolder folder;
  const Result<RankImport> result = import_file(folder.write("trace.json", text));
  EXPECT_FALSE(result.ok());
  return result.ok() ? "" : result.error().message;
}

}  // namespace lockstep::analyzer::kineto

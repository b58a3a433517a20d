// A second importer, for tests: slow, whole documents in memory, exact decimals as 128-bit fractions, every
// join by searching everything. Shares no code with the real one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::analyzer::kineto {

struct OracleResult {
  std::vector<std::string> activities;  // one line each, sorted
  std::vector<std::string> steps;
  std::vector<std::string> data_loading;  // "begin end", sorted
  std::uint64_t dropped = 0;
  std::int64_t resolution_ns = 1000;
};

// `text` is valid JSON with unique keys.
OracleResult oracle_import(const std::string& text);

}  // namespace lockstep::analyzer::kineto

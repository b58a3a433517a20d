// Names of device activities: interned once, classified once. Looked up by the raw JSON text, which is the
// same for the same name in the same file, so that a hit costs one hash.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analyzer/import/rank/names.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer::kineto {

struct NameInfo {
  std::uint32_t id = 0;
  KernelKind kind = KernelKind::compute;
  trace::Operation operation = trace::Operation::unknown;  // as the name says, for communication only
  bool launches = false;                                   // for names of calls
};

class NameTable {
 public:
  explicit NameTable(StringTable& strings) : strings_(strings) {}
  const NameInfo& find(std::string_view raw);

 private:
  StringTable& strings_;
  std::deque<std::string> raws_;
  std::unordered_map<std::string_view, NameInfo> infos_;
};

}  // namespace lockstep::analyzer::kineto

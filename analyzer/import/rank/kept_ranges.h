// Which host ranges an import keeps: the one rule of all importers. Most of a profile's ranges are short and
// say nothing that is asked for later; they would take most of its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// Of one rank (or of one process, where it has several).
class KeptRanges {
 public:
  // `all`: the user asked for all of them.
  explicit KeptRanges(bool all = false) : all_(all) {}

  // What is kept whatever its name: of calls of the runtime and of Python functions nothing else is.
  bool keeps(Nanoseconds begin, Nanoseconds end) const { return all_ || end - begin >= kLongHostRange; }
  // Other ranges also where their name tells of steps (analyzer/model/step_names.h) or of a phase
  // (analyzer/model/phase_names.h): both are found by such ranges, which may be as short as they like. Of
  // those that say no more than that the rank trains (autograd has one for each operator) only the first is
  // kept: one says it.
  bool keeps(Nanoseconds begin, Nanoseconds end, std::string_view name) {
    return keeps(begin, end) || keeps_by_name(name);
  }

 private:
  enum class ByName : std::uint8_t { no, one_of_all, yes };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  static ByName by_name(std::string_view name);
  bool keeps_by_name(std::string_view name);

  bool all_ = false;
  bool trains_ = false;  // a range that says so was kept
  std::unordered_map<std::string, ByName, Hash, std::equal_to<>> known_;
};

}  // namespace lockstep::analyzer

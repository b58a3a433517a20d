#include "analyzer/diagnose/eval_mode.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "analyzer/model/phase_names.h"

namespace lockstep::analyzer {

bool is_known_by_mode_alone(const Job& job) {
  std::unordered_map<std::uint32_t, bool> by_mode;  // by name, of ranges of evaluation
  for (const RankTrace& rank : job.ranks) {
    for (const HostRange& range : rank.host_ranges) {
      if (range.kind != HostKind::other || by_mode.contains(range.name)) continue;
      const std::string_view name = job.strings.view(range.name);
      if (phase_of_range(name) == Phase::evaluation) by_mode[range.name] = name == "evaluation";
    }
  }
  return !by_mode.empty() &&
         std::all_of(by_mode.begin(), by_mode.end(), [](const auto& one) { return one.second; });
}

}  // namespace lockstep::analyzer

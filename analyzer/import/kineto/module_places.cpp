#include "analyzer/import/kineto/module_places.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::analyzer::kineto {
namespace {

constexpr std::string_view kPrefix = "nn.Module: ";

}  // namespace

bool is_module(std::string_view name) {
  return name.starts_with(kPrefix) && name.size() > kPrefix.size();
}

void name_modules_by_place(RankImport& rank) {
  struct Open {
    Nanoseconds end = 0;
    std::uint32_t name = 0;  // of the place
  };
  std::vector<Open> open;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> places;  // by caller and name
  std::uint32_t lane = kNone;
  for (HostRange& range : rank.trace.host_ranges) {
    if (range.kind != HostKind::module) continue;
    if (range.lane != lane) open.clear();
    lane = range.lane;
    while (!open.empty() && (open.back().end <= range.begin || open.back().end < range.end)) open.pop_back();
    const std::uint32_t caller = open.empty() ? 0 : open.back().name;
    const auto [where, fresh] = places.emplace(std::pair(caller, range.name), 0);
    if (fresh) {
      std::string place(rank.strings.view(caller));
      if (!place.empty()) place += '.';
      place += rank.strings.view(range.name).substr(kPrefix.size());
      where->second = rank.strings.intern(place);
    }
    range.name = where->second;
    open.push_back({range.end, range.name});
  }
}

}  // namespace lockstep::analyzer::kineto

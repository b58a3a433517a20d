#include "analyzer/import/run/host_kinds.h"

#include <string_view>

#include "analyzer/import/rank/names.h"
#include "trace/events/operator_ranges.h"

namespace lockstep::analyzer::run {

HostKind HostKinds::of(const trace::HostRange& range) {
  HostKind kind = range.category != 0 ? of_category(range.category) : HostKind::other;
  if (kind != HostKind::other && reader_.string(range.domain) != trace::kOperatorDomain)
    kind = HostKind::other;  // a program's own category of that name
  return kind != HostKind::other ? kind : of(range.name, range.domain, range.lane, range.begin, range.end);
}

HostKind HostKinds::of(trace::StringId name, trace::StringId domain, trace::LaneId lane, Nanoseconds begin,
                       Nanoseconds end) {
  const bool ours = reader_.string(domain) == "lockstep";
  if (ours && reader_.string(name) == "data_loading") return HostKind::data_loading;
  if (ours && steps_.contains({lane, begin, end})) return HostKind::step;
  const auto [where, fresh] = loads_data_.emplace(name, false);
  if (fresh) where->second = names_data_loading(reader_.string(name));
  return where->second ? HostKind::data_loading : HostKind::other;
}

// trace/events/operator_ranges.h says what they are.
HostKind HostKinds::of_category(trace::StringId id) {
  const auto [where, fresh] = categories_.emplace(id, HostKind::other);
  if (fresh) {
    const std::string_view category = reader_.string(id);
    if (category == trace::kModuleCategory || category == trace::kModuleBackwardCategory)
      where->second = HostKind::module;
    if (category == trace::kOperatorCategory) where->second = HostKind::operation;
    if (category == trace::kPythonPlaceCategory) where->second = HostKind::python_place;
  }
  return where->second;
}

}  // namespace lockstep::analyzer::run

#include "analyzer/import/run/device_passes.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "trace/events/operator_ranges.h"

namespace lockstep::analyzer::run {

std::optional<NamedPass> DevicePasses::pass_of(trace::StringId name, trace::StringId domain) const {
  const std::string_view text = reader_.string(name);
  if (reader_.string(domain) == trace::kOperatorDomain) {
    if (text == "forward") return NamedPass{Pass::forward};
    if (text == "backward") return NamedPass{Pass::backward};
  }
  return microbatch_pass(text);
}

void DevicePasses::take(const trace::HostRange& range) {
  static_assert(sizeof(trace::StringId) == 4, "two of them are one key");
  const std::uint64_t key = std::uint64_t{range.domain} << 32U | range.name;
  const auto [where, fresh] = known_.emplace(key, std::nullopt);
  if (fresh) where->second = pass_of(range.name, range.domain);
  if (where->second) ranges_.push_back({range.begin, range.end, *where->second});
}

void DevicePasses::give(RankTrace& trace) && {
  // On a CPU a computation says itself what it is. Where ranks exchange no messages nobody asks for passes.
  const auto is_message = [](const Activity& activity) { return activity.activity_class == Class::p2p; };
  if (trace.device == "cpu" || std::none_of(trace.activities.begin(), trace.activities.end(), is_message))
    return;
  give_passes(std::move(ranges_), trace);
}

}  // namespace lockstep::analyzer::run

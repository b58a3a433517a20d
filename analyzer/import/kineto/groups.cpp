#include "analyzer/import/kineto/groups.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "analyzer/import/kineto/decimal_time.h"
#include "analyzer/import/kineto/json_text.h"

namespace lockstep::analyzer::kineto {
namespace {

constexpr std::int32_t kLargestGroup = 1 << 24;

}  // namespace

std::uint32_t GroupTable::find(const DeviceArguments& arguments) {
  if (arguments.group_name.empty() && arguments.group_ranks.empty()) return kNone;
  key_.clear();
  for (const std::string_view part :
       {arguments.group_name, arguments.group_description, arguments.group_size, arguments.group_ranks}) {
    key_ += part;
    key_ += '\0';
  }
  const auto [where, fresh] = ids_.emplace(key_, static_cast<std::uint32_t>(seen_.size()));
  if (fresh)
    seen_.push_back({unescape(arguments.group_name), unescape(arguments.group_description),
                     parse_ranks(arguments.group_ranks), whole_number(arguments.group_size).value_or(0)});
  return where->second;
}

void GroupTable::declare(std::string name, RankList ranks) {
  declared_.emplace(std::move(name), std::move(ranks));
}

std::vector<GroupTable::Resolved> GroupTable::resolve(std::int32_t world_size) const {
  std::vector<Resolved> out;
  for (const Seen& seen : seen_) {
    Resolved resolved{{seen.name, seen.description, {}}, {}};
    const auto declared = declared_.find(seen.name);
    if (!seen.ranks.cut && !seen.ranks.ranks.empty()) {
      resolved.group_order = seen.ranks.ranks;
    } else if (declared != declared_.end() && !declared->second.cut && !declared->second.ranks.empty()) {
      resolved.group_order = declared->second.ranks;
    } else if (seen.size > 0 && seen.size == world_size && seen.size <= kLargestGroup) {
      // A group as large as the world holds every rank.
      resolved.group_order.resize(static_cast<std::size_t>(seen.size));
      std::iota(resolved.group_order.begin(), resolved.group_order.end(), 0);
    }
    const bool is_size =
        seen.size > static_cast<std::int64_t>(seen.ranks.cut ? seen.ranks.ranks.size() : 0) &&
        seen.size <= kLargestGroup;
    if (resolved.group_order.empty() && is_size) resolved.group.size = static_cast<std::int32_t>(seen.size);
    // A cut list says that there are more; a size that no group has is none.
    resolved.group.may_have_others = resolved.group_order.empty() && seen.ranks.cut &&
                                     !seen.ranks.ranks.empty() && resolved.group.size == 0;
    std::vector<std::int32_t> sorted = resolved.group_order;
    std::sort(sorted.begin(), sorted.end());
    resolved.group.ranks = std::move(sorted);
    out.push_back(std::move(resolved));
  }
  return out;
}

}  // namespace lockstep::analyzer::kineto

#include "analyzer/import/run/identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "analyzer/import/rank/file_name.h"
#include "analyzer/import/run/device.h"
#include "base/numbers.h"
#include "trace/events/device_key.h"
#include "trace/events/scheduling.h"

namespace lockstep::analyzer::run {
namespace {

using trace::LaneKind;
using trace::Reader;

std::optional<std::int32_t> number(const Reader& reader, const char* key) {
  return parse_number<std::int32_t>(metadata_of(reader, key), 0);
}

double quota(const Reader& reader) {
  const std::string text = metadata_of(reader, trace::kCoreQuotaKey);
  std::string_view rest = text;
  const double value = take_number<double>(rest).value_or(0);
  return std::isfinite(value) && value > 0 ? value : 0;
}

void read_lanes(const Reader& reader, RankTrace& rank) {
  for (const trace::Lane& lane : reader.lanes()) {
    std::string text = lane.name;
    if (text.empty()) {
      const char* kind = lane.kind == LaneKind::device_stream ? "stream" : "thread";
      text = fmt::format("{} {}", kind, lane.handle);
    }
    rank.lanes.push_back({lane.kind, lane.handle, std::move(text)});
  }
  rank.device = device_of(reader.lanes());
  for (const trace::Lane& lane : reader.lanes()) {
    if (lane.kind != LaneKind::device_stream) continue;
    rank.device_uuid = metadata_of(reader, trace::device_uuid_key(lane.device).c_str());
    break;
  }
}

}  // namespace

std::string metadata_of(const Reader& reader, const char* key) {
  const auto found = reader.metadata().find(key);
  return found == reader.metadata().end() ? std::string() : found->second;
}

void read_identity(const Reader& reader, RankImport& import) {
  RankTrace& rank = import.trace;
  if (const auto number_of_rank = number(reader, "rank")) {
    rank.rank = *number_of_rank;
    import.rank_known = true;
  }
  // A file that lost what it says of itself has its name.
  const std::size_t folder = rank.file.rfind('/');
  const std::string_view name =
      std::string_view(rank.file).substr(folder == std::string::npos ? 0 : folder + 1);
  if (metadata_of(reader, "process").empty() && !import.rank_known && name.starts_with("rank-")) {
    const std::optional<std::int32_t> named = rank_in_file_name(name);
    import.rank_known = named.has_value();
    rank.rank = named.value_or(rank.rank);
  }
  import.world_size = number(reader, "world_size").value_or(0);
  rank.cores = number(reader, trace::kCoresKey).value_or(0);
  rank.core_set = metadata_of(reader, trace::kCoreSetKey);
  rank.core_quota = quota(reader);
  rank.host = metadata_of(reader, "host");
  // Files of before it was told know the host alone.
  const std::string clock = metadata_of(reader, "clock_id");
  import.clock_name = clock.empty() ? fmt::format("monotonic clock of {}", rank.host) : clock;
  rank.clock.evidence = rank.host.empty() && clock.empty() ? "assumed" : "same host";
  read_lanes(reader, rank);
}

std::vector<std::uint32_t> intern_groups(const Reader& reader, RankImport& import) {
  std::vector<std::uint32_t> groups;
  for (const trace::Group& group : reader.groups()) {
    std::vector<std::int32_t> ranks = group.ranks;
    // As a rule they are sorted: to see that is cheaper, with thousands of ranks in the file of each.
    if (!std::is_sorted(ranks.begin(), ranks.end())) std::sort(ranks.begin(), ranks.end());
    groups.push_back(import.intern_group(
        {group.name, group.description, std::move(ranks), std::max(group.size, 0), group.own_rank}));
  }
  return groups;
}

}  // namespace lockstep::analyzer::run

#include "analyzer/diagnose/rank_transfers.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/diagnose/links.h"
#include "analyzer/intervals/median.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

// Operations that should take as long: the operation, its size, how many ranks it has, on how many hosts (0:
// not known).
using Alike = std::tuple<Operation, std::int64_t, std::size_t, std::size_t>;

Alike alike_of(const CollectiveReport& collective, const HostOfRank& hosts) {
  return {collective.operation, *collective.bytes,
          std::max(collective.group_ranks.size(), collective.ranks.size()),
          hosts_of(collective, hosts).size()};
}

const CollectiveRank* part_of(const CollectiveReport& collective, std::int32_t rank) {
  const auto found = std::find_if(collective.ranks.begin(), collective.ranks.end(),
                                  [rank](const CollectiveRank& one) { return one.rank == rank; });
  return found == collective.ranks.end() ? nullptr : &*found;
}

// How long the operation's other ranks take, in the lower median.
std::optional<std::int64_t> transfer_of_others(const CollectiveReport& collective, std::int32_t rank) {
  std::vector<std::int64_t> others;
  for (const CollectiveRank& one : collective.ranks)
    if (one.rank != rank) others.push_back(one.transfer_ns);
  if (others.empty()) return std::nullopt;
  return lower_median(std::move(others));
}

struct Moved {
  std::int64_t bytes = 0;
  bool known = true;
};

}  // namespace

RankTransfers transfers_of(const Report& report, const StepTable& steps, std::int32_t rank) {
  RankTransfers result;
  if (steps.steps.empty()) return result;
  const HostOfRank hosts = hosts_of(report);
  std::map<Alike, std::vector<std::int64_t>> elsewhere;
  std::vector<const CollectiveReport*> own;
  std::map<std::int32_t, Moved> moved;
  for (const std::int32_t one : steps.ranks) moved[one];
  for (const CollectiveReport& collective : report.collectives) {
    if (!collective.step || !std::binary_search(steps.steps.begin(), steps.steps.end(), *collective.step))
      continue;
    for (const CollectiveRank& one : collective.ranks) {
      const auto found = moved.find(one.rank);
      if (found == moved.end()) continue;
      found->second.known = found->second.known && collective.bytes.has_value();
      found->second.bytes = saturating_add(found->second.bytes, collective.bytes.value_or(0));
    }
    if (part_of(collective, rank) != nullptr) {
      own.push_back(&collective);
    } else if (collective.bytes) {
      std::vector<std::int64_t>& times = elsewhere[alike_of(collective, hosts)];
      for (const CollectiveRank& one : collective.ranks) times.push_back(one.transfer_ns);
    }
  }
  std::map<Alike, std::int64_t> usual;
  for (auto& [alike, times] : elsewhere)
    if (!times.empty()) usual.emplace(alike, lower_median(std::move(times)));
  for (const CollectiveReport* collective : own) {
    const CollectiveRank& part = *part_of(*collective, rank);
    std::optional<std::int64_t> peers = transfer_of_others(*collective, rank);
    if (collective->bytes)
      if (const auto found = usual.find(alike_of(*collective, hosts)); found != usual.end())
        peers = std::min(peers.value_or(found->second), found->second);
    if (!peers) continue;
    result.slower_ns = saturating_add(
        result.slower_ns, std::clamp<std::int64_t>(part.transfer_ns - *peers, 0, part.exposed_transfer_ns()));
  }
  const auto count = static_cast<std::int64_t>(steps.steps.size());
  result.slower_ns /= count;
  if (std::all_of(moved.begin(), moved.end(), [](const auto& one) { return one.second.known; })) {
    std::vector<std::int64_t> others;
    for (const auto& [one, sum] : moved) {
      if (one == rank)
        result.bytes = sum.bytes / count;
      else
        others.push_back(sum.bytes / count);
    }
    if (!others.empty()) result.others_bytes = lower_median(std::move(others));
  }
  return result;
}

bool is_within_host(const Report& report, std::int32_t rank) {
  const HostOfRank hosts = hosts_of(report);
  std::int64_t within = 0, between = 0;
  for (const CollectiveReport& collective : report.collectives) {
    const CollectiveRank* const own = part_of(collective, rank);
    const std::optional<std::int64_t> others = transfer_of_others(collective, rank);
    if (own == nullptr || !others) continue;
    std::int64_t& sum = hosts_of(collective, hosts).size() > 1 ? between : within;
    sum = saturating_add(sum, own->transfer_ns - *others);
  }
  return between <= 0 || within > between;
}

}  // namespace lockstep::analyzer

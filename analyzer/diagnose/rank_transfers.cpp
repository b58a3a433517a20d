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

using Operations = std::vector<const CollectiveReport*>;

Operations operations_of(const Report& report, const StepTable& steps) {
  Operations operations;
  for (const CollectiveReport& collective : report.collectives)
    if (collective.step && std::binary_search(steps.steps.begin(), steps.steps.end(), *collective.step))
      operations.push_back(&collective);
  return operations;
}

// How long operations that the rank has no part in take, in the lower median.
std::map<Alike, std::int64_t> transfers_elsewhere(const Operations& operations, const HostOfRank& hosts,
                                                  std::int32_t rank) {
  std::map<Alike, std::vector<std::int64_t>> times;
  for (const CollectiveReport* collective : operations) {
    if (!collective->bytes || part_of(*collective, rank) != nullptr) continue;
    std::vector<std::int64_t>& alike = times[alike_of(*collective, hosts)];
    for (const CollectiveRank& one : collective->ranks) alike.push_back(one.transfer_ns);
  }
  std::map<Alike, std::int64_t> usual;
  for (auto& [alike, of_alike] : times)
    if (!of_alike.empty()) usual.emplace(alike, lower_median(std::move(of_alike)));
  return usual;
}

// By how much longer than its peers, which may be less than nothing: noise comes to nothing over many.
struct Slower {
  std::int64_t within_ns = 0, between_ns = 0;  // a host, hosts

  std::int64_t all_ns() const { return saturating_add(within_ns, between_ns); }
  void add(const CollectiveRank& part, std::optional<std::int64_t> peers, bool is_between) {
    if (!peers) return;
    std::int64_t& sum = is_between ? between_ns : within_ns;
    sum = saturating_add(sum, std::min(part.transfer_ns - *peers, part.exposed_transfer_ns()));
  }
};

// Over all operations.
Slower slower_than_peers(const Operations& operations, const HostOfRank& hosts, std::int32_t rank) {
  const std::map<Alike, std::int64_t> usual = transfers_elsewhere(operations, hosts, rank);
  Slower in_the_same, in_others;
  for (const CollectiveReport* collective : operations) {
    const CollectiveRank* const part = part_of(*collective, rank);
    if (part == nullptr) continue;
    const bool is_between = hosts_of(*collective, hosts).size() > 1;
    in_the_same.add(*part, transfer_of_others(*collective, rank), is_between);
    if (!collective->bytes) continue;
    if (const auto found = usual.find(alike_of(*collective, hosts)); found != usual.end())
      in_others.add(*part, found->second, is_between);
  }
  return in_others.all_ns() > in_the_same.all_ns() ? in_others : in_the_same;
}

// Σ of the bytes of each rank's operations; nothing where a size is not known.
std::optional<std::map<std::int32_t, std::int64_t>> bytes_by_rank(const Operations& operations,
                                                                  const StepTable& steps) {
  std::map<std::int32_t, std::int64_t> bytes;
  for (const std::int32_t rank : steps.ranks) bytes.emplace(rank, 0);
  for (const CollectiveReport* collective : operations)
    for (const CollectiveRank& one : collective->ranks) {
      const auto found = bytes.find(one.rank);
      if (found == bytes.end()) continue;
      if (!collective->bytes) return std::nullopt;
      found->second = saturating_add(found->second, *collective->bytes);
    }
  return bytes;
}

}  // namespace

RankTransfers transfers_of(const Report& report, const StepTable& steps, std::int32_t rank) {
  RankTransfers result;
  const auto count = static_cast<std::int64_t>(steps.steps.size());
  if (count == 0) return result;
  const Operations operations = operations_of(report, steps);
  const Slower slower = slower_than_peers(operations, hosts_of(report), rank);
  result.slower_ns = std::max<std::int64_t>(0, slower.all_ns() / count);
  result.is_between_hosts = slower.between_ns > 0 && slower.between_ns >= slower.within_ns;
  if (const auto bytes = bytes_by_rank(operations, steps)) {
    std::vector<std::int64_t> others;
    for (const auto& [one, sum] : *bytes) {
      if (one == rank)
        result.bytes = sum / count;
      else
        others.push_back(sum / count);
    }
    if (!others.empty()) result.others_bytes = lower_median(std::move(others));
  }
  return result;
}

std::int64_t slower_on_host_cores(const Report& report, const StepTable& steps, std::int32_t rank) {
  const RankTransfers transfers = transfers_of(report, steps, rank);
  return transfers.is_between_hosts ? 0 : transfers.slower_ns;
}

}  // namespace lockstep::analyzer

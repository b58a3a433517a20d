#include "analyzer/diagnose/links.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <span>

#include "analyzer/intervals/median.h"
#include "analyzer/model/operation.h"
#include "analyzer/report/quantity.h"
#include "base/time_math.h"

namespace lockstep::analyzer {

HostOfRank hosts_of(const Report& report) {
  HostOfRank hosts;
  for (const RankReport& rank : report.ranks)
    if (!rank.host.empty()) hosts.emplace(rank.rank, rank.host);
  return hosts;
}

std::set<std::string> hosts_of(const CollectiveReport& collective, const HostOfRank& hosts) {
  std::set<std::string> met;
  for (const CollectiveRank& rank : collective.ranks) {
    const auto host = hosts.find(rank.rank);
    if (host == hosts.end()) return {};
    met.insert(host->second);
  }
  return met;
}

void add_transfer(const CollectiveReport& collective, const RootWaits& roots, std::int64_t& transfer_ns,
                  std::int64_t& exposed_ns) {
  for (const CollectiveRank& rank : collective.ranks) {
    const std::int64_t held = roots.in(rank);
    transfer_ns = saturating_add(transfer_ns, rank.transfer_ns - held);
    exposed_ns = saturating_add(exposed_ns, std::max<std::int64_t>(0, rank.exposed_transfer_ns() - held));
  }
}

namespace {

// At a gigabit a second these take a quarter of a millisecond, several times as long as the latency of a hop.
constexpr std::int64_t kLargePart = 32 << 10;
constexpr std::size_t kEnoughOperations = 8;

bool is_large(const CollectiveReport& collective) {
  const auto ranks = static_cast<std::int64_t>(
      std::max<std::size_t>({1, collective.group_ranks.size(), collective.ranks.size()}));
  const std::int64_t parts = is_point_to_point(collective.operation) ? 1 : ranks;
  return collective.bytes && *collective.bytes / parts >= kLargePart;
}

double median_of(std::span<const double> values) {
  return lower_median(std::vector<double>(values.begin(), values.end()));
}

}  // namespace

bool TransferBetweenHosts::is_slow() const {
  constexpr double kSlowGbps = 0.125;
  return first_half_gbps && second_half_gbps && std::max(*first_half_gbps, *second_half_gbps) <= kSlowGbps;
}

TransferBetweenHosts transfer_between_hosts(const Report& report) {
  const HostOfRank host_of = hosts_of(report);
  TransferBetweenHosts sum;
  std::set<std::string> hosts;
  std::vector<double> busbw, large;
  for (const CollectiveReport& collective : report.collectives) {
    std::int64_t transfer = 0;
    std::set<std::string> met;
    for (const CollectiveRank& rank : collective.ranks) {
      transfer = saturating_add(transfer, rank.transfer_ns);
      if (const auto host = host_of.find(rank.rank); host != host_of.end()) met.insert(host->second);
    }
    sum.all_transfer_ns = saturating_add(sum.all_transfer_ns, transfer);
    if (met.size() < 2) continue;
    sum.transfer_ns = saturating_add(sum.transfer_ns, transfer);
    hosts.merge(met);
    if (!collective.busbw_wire_gbps) continue;
    busbw.push_back(*collective.busbw_wire_gbps);
    if (is_large(collective)) large.push_back(*collective.busbw_wire_gbps);
  }
  sum.hosts.assign(hosts.begin(), hosts.end());
  if (large.size() >= kEnoughOperations) {
    const std::span<const double> in_order(large);
    sum.first_half_gbps = median_of(in_order.first(large.size() / 2));
    sum.second_half_gbps = median_of(in_order.subspan(large.size() / 2));
  }
  if (!busbw.empty()) sum.busbw_wire_gbps = median_of(large.empty() ? busbw : large);
  return sum;
}

std::string describe(const TransferBetweenHosts& transfer) {
  constexpr std::size_t kNamed = 4;
  constexpr double kMegabitsPerGigabyte = 8000;
  const std::size_t named = std::min(transfer.hosts.size(), kNamed);
  std::string text = fmt::format(
      "between hosts {}",
      fmt::join(transfer.hosts.begin(), transfer.hosts.begin() + static_cast<std::ptrdiff_t>(named), ", "));
  if (transfer.hosts.size() > named) text += fmt::format(" and {} more", transfer.hosts.size() - named);
  if (const auto rate = transfer.busbw_wire_gbps) {
    // As links are sold: below a gigabit in megabits.
    const double megabits = *rate * kMegabitsPerGigabyte;
    text += fmt::format(": each rank's link carries {} ({}) while data moves, in the median",
                        format_bandwidth(rate),
                        megabits < 1000 ? fmt::format("{:.3g} Mbit/s", megabits)
                                        : fmt::format("{:.3g} Gbit/s", megabits / 1000));
  }
  return text;
}

}  // namespace lockstep::analyzer

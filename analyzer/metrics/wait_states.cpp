#include "analyzer/metrics/wait_states.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/metrics/covered_intervals.h"
#include "analyzer/model/stopped.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

struct Sum {
  WaitStateReport row;
  bool exposed_known = true;
  std::map<std::int32_t, CoveredIntervals> waits_of_rank;

  void add(const CollectiveRank& rank) {
    ++row.waits;
    exposed_known = exposed_known && rank.hidden_known;
    waits_of_rank[rank.rank].add({rank.arrival_ns, rank.arrival_ns + rank.wait_ns}, rank.compute_before_ns,
                                 rank.hidden_ns);
  }

  // Each instant of a rank counts once, however many operations it waits in.
  WaitStateReport finish() && {
    std::int64_t exposed_ns = 0;
    for (auto& [rank, waits] : waits_of_rank) {
      const CoveredIntervals::Union own = std::move(waits).unite();
      row.wait_ns = saturating_add(row.wait_ns, own.ns);
      exposed_ns = saturating_add(exposed_ns, own.ns - own.covered_ns);
      if (own.ns <= row.worst_rank_ns) continue;
      row.worst_rank = rank;
      row.worst_rank_ns = own.ns;
    }
    if (exposed_known) row.exposed_ns = exposed_ns;
    return row;
  }
};

}  // namespace

WaitState wait_state_of(Operation of_record, bool point_to_point, bool root_unknown) {
  if (root_unknown) return WaitState::at_nxn;
  switch (of_record) {
    case Operation::barrier:
      return WaitState::at_barrier;
    case Operation::broadcast:
    case Operation::scatter:
      return WaitState::late_broadcast;
    case Operation::reduce:
    case Operation::gather:
      return WaitState::early_reduce;
    case Operation::send:
      return WaitState::late_receiver;
    case Operation::recv:
      return WaitState::late_sender;
    default:
      return point_to_point ? WaitState::late_partner : WaitState::at_nxn;
  }
}

std::vector<WaitStateReport> summarise_wait_states(const Report& report,
                                                   const std::function<bool(std::int32_t)>& counts,
                                                   const std::stop_token& stop) {
  std::array<Sum, kWaitStateCount> sums;
  for (const CollectiveReport& collective : report.collectives) {
    throw_if_stopped(stop);
    if (!collective.waits_known()) continue;
    std::array<bool, kWaitStateCount> seen{};
    for (const CollectiveRank& rank : collective.ranks) {
      if (rank.wait_ns == 0 || !counts(rank.rank)) continue;
      const auto state = static_cast<std::size_t>(rank.wait_state);
      sums[state].add(rank);
      if (!seen[state]) ++sums[state].row.operations;
      seen[state] = true;
    }
  }
  std::vector<WaitStateReport> rows;
  for (std::size_t state = 0; state < kWaitStateCount; ++state) {
    if (sums[state].row.waits == 0) continue;
    sums[state].row.state = static_cast<WaitState>(state);
    rows.push_back(std::move(sums[state]).finish());
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const WaitStateReport& a, const WaitStateReport& b) { return a.wait_ns > b.wait_ns; });
  return rows;
}

}  // namespace lockstep::analyzer

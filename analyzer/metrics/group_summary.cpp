#include "analyzer/metrics/group_summary.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/intervals/median.h"
#include "analyzer/metrics/bandwidth.h"
#include "analyzer/metrics/covered_intervals.h"
#include "analyzer/model/operation.h"
#include "analyzer/model/stopped.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

struct Bandwidth {
  std::int64_t bytes = 0;
  double gbps = 0;
};

// Small operations, sums of a loss for instance, take as long as it takes to start them: what the links carry
// is seen in those of at least a hundredth of the largest's size.
std::optional<double> median_of_large(const std::vector<Bandwidth>& all) {
  constexpr std::int64_t kPart = 100;
  std::int64_t largest = 0;
  for (const Bandwidth& one : all) largest = std::max(largest, one.bytes);
  std::vector<double> large;
  for (const Bandwidth& one : all)
    if (one.bytes >= largest / kPart) large.push_back(one.gbps);
  if (large.empty()) return std::nullopt;
  return lower_median(std::move(large));
}

// What one rank spent in operations that may run at once: each instant counts once, as transfer where one of
// them transfers.
class RankTime {
 public:
  void add(const CollectiveRank& rank) {
    transfers_.push_back({rank.arrival_ns + rank.wait_ns, rank.end_ns});
    all_.add({rank.arrival_ns, rank.end_ns}, rank.compute_before_ns, rank.covered_ns);
  }

  void finish(std::int64_t& wait_ns, std::int64_t& transfer_ns, std::int64_t& exposed_ns) && {
    const std::int64_t transfer = IntervalSet::from(std::move(transfers_)).measure();
    const CoveredIntervals::Union both = std::move(all_).unite();
    transfer_ns = saturating_add(transfer_ns, transfer);
    wait_ns = saturating_add(wait_ns, both.ns - transfer);
    exposed_ns = saturating_add(exposed_ns, both.ns - both.covered_ns);
  }

 private:
  std::vector<Interval> transfers_;
  CoveredIntervals all_;
};

// Sums of one kind of operation, and what becomes of them.
class OperationSum {
 public:
  void add(const CollectiveReport& c, std::size_t ranks, bool in_step) {
    ++row_.count;
    row_.operation = c.operation;
    waits_known_ = waits_known_ || c.waits_known();
    for (const CollectiveRank& rank : c.ranks) {
      times_[rank.rank].add(rank);
      exposed_known_ = exposed_known_ && rank.hidden_known;
    }
    if (c.bytes && c.busbw_gbps) busbw_.push_back({*c.bytes, *c.busbw_gbps});
    if (c.bytes && c.busbw_wire_gbps) busbw_wire_.push_back({*c.bytes, *c.busbw_wire_gbps});
    sizes_known_ = sizes_known_ && c.bytes.has_value();
    if (!c.bytes) return;
    bytes_ = saturating_add(bytes_, *c.bytes);
    if (!in_step || ranks == 0) return;
    any_in_step_ = true;
    const auto size = static_cast<double>(*c.bytes);
    // Of a message's two sides one sends; in everything else all take part.
    const auto everyone = static_cast<double>(ranks);
    const double taking_part = is_point_to_point(c.operation) ? 2 / everyone : 1;
    const double sending = is_point_to_point(c.operation) ? 1 / everyone : 1;
    handled_ += size * taking_part;
    const std::optional<double> factor = bus_factor(c.operation, static_cast<std::int32_t>(ranks));
    wire_known_ = wire_known_ && factor.has_value();
    sent_ += size * sending * factor.value_or(0);
  }

  GroupOperation finish(std::int64_t steps) && {
    std::int64_t wait_ns = 0, exposed_ns = 0;
    for (auto& [rank, time] : times_) std::move(time).finish(wait_ns, row_.transfer_ns, exposed_ns);
    if (waits_known_) row_.wait_ns = wait_ns;
    if (exposed_known_) row_.exposed_ns = exposed_ns;
    if (sizes_known_) {
      row_.bytes = bytes_;
      const bool in_steps = steps > 0 && any_in_step_;
      if (in_steps) row_.bytes_per_step_and_rank = handled_ / static_cast<double>(steps);
      if (in_steps && wire_known_) row_.wire_bytes_per_step_and_rank = sent_ / static_cast<double>(steps);
    }
    row_.busbw_gbps = median_of_large(busbw_);
    row_.busbw_wire_gbps = median_of_large(busbw_wire_);
    return row_;
  }

 private:
  GroupOperation row_;
  bool waits_known_ = false, any_in_step_ = false, exposed_known_ = true, sizes_known_ = true,
       wire_known_ = true;
  std::map<std::int32_t, RankTime> times_;
  std::int64_t bytes_ = 0;
  double handled_ = 0, sent_ = 0;
  std::vector<Bandwidth> busbw_, busbw_wire_;
};

std::int64_t time_of(const GroupOperation& row) {
  return saturating_add(row.transfer_ns, row.wait_ns.value_or(0));
}

std::int64_t time_of(const GroupReport& group) {
  std::int64_t sum = 0;
  for (const GroupOperation& row : group.operations) sum = saturating_add(sum, time_of(row));
  return sum;
}

}  // namespace

std::vector<GroupReport> summarise_groups(const Report& report, const std::stop_token& stop) {
  std::set<std::int64_t> steps;
  for (const StepReport& step : report.steps) steps.insert(step.step);
  using Key = std::pair<std::string, std::vector<std::int32_t>>;
  std::map<Key, std::map<Operation, OperationSum>> groups;
  for (const CollectiveReport& c : report.collectives) {
    throw_if_stopped(stop);
    groups[{c.group_name, c.group_ranks}][c.operation].add(c, c.group_ranks.size(), c.step.has_value());
  }
  std::vector<GroupReport> result;
  for (auto& [key, operations] : groups) {
    GroupReport group{key.first, key.second, {}};
    for (auto& [operation, sum] : operations)
      group.operations.push_back(std::move(sum).finish(static_cast<std::int64_t>(steps.size())));
    std::stable_sort(
        group.operations.begin(), group.operations.end(),
        [](const GroupOperation& a, const GroupOperation& b) { return time_of(a) > time_of(b); });
    result.push_back(std::move(group));
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const GroupReport& a, const GroupReport& b) { return time_of(a) > time_of(b); });
  return result;
}

}  // namespace lockstep::analyzer

#include "analyzer/diagnose/root_waits.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analyzer/metrics/compute_intervals.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

using Traces = std::map<std::int32_t, const RankTrace*>;

Traces traces_of(const Job& job) {
  Traces traces;
  for (const RankTrace& trace : job.ranks) traces.emplace(trace.rank, &trace);
  return traces;
}

// The root of a broadcast or scatter; null: it is another operation, or the root is not known.
const CollectiveRank* root_of(const Traces& traces, const CollectiveReport& collective) {
  if (collective.operation != Operation::broadcast && collective.operation != Operation::scatter)
    return nullptr;
  if (collective.root_unknown || collective.unfinished) return nullptr;
  for (const CollectiveRank& rank : collective.ranks) {
    const auto trace = traces.find(rank.rank);
    if (trace == traces.end() || rank.activity >= trace->second->activities.size()) continue;
    const std::uint32_t communication = trace->second->activities[rank.activity].communication;
    if (communication >= trace->second->communications.size()) continue;
    const std::int32_t root = trace->second->communications[communication].peer;
    const auto found = std::find_if(collective.ranks.begin(), collective.ranks.end(),
                                    [root](const CollectiveRank& other) { return other.rank == root; });
    return found == collective.ranks.end() ? nullptr : &*found;
  }
  return nullptr;
}

}  // namespace

RootWaits::RootWaits(const Job& job, const Report& report) : origin_ns_(report.origin_aligned_ns) {
  const Traces traces = traces_of(job);
  std::map<std::int32_t, std::vector<Interval>> held;
  std::map<std::int64_t, std::int64_t> last_arrivals;  // of the operations that hold their root, by id
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Interval>>
      held_for;  // by last receiver and root
  for (const CollectiveReport& collective : report.collectives) {
    const CollectiveRank* const root = root_of(traces, collective);
    if (root == nullptr) continue;
    const CollectiveRank& receiver =
        *std::ranges::max_element(collective.ranks, {}, &CollectiveRank::arrival_ns);
    const std::int64_t last = receiver.arrival_ns;
    if (root->arrival_ns >= last || last >= root->end_ns) continue;
    last_arrivals[collective.id] = last;
    const Interval until_it_came{origin_ns_ + root->arrival_ns, origin_ns_ + last};
    held[root->rank].push_back(until_it_came);
    held_for[{receiver.rank, root->rank}].push_back(until_it_came);
    std::int64_t& sum = by_operation_[collective.operation];
    sum = saturating_add(sum, last - root->arrival_ns);
  }
  if (held.empty()) return;
  std::map<std::int32_t, std::vector<Interval>> moving;
  for (const CollectiveReport& collective : report.collectives) {
    const auto last = last_arrivals.find(collective.id);
    for (const CollectiveRank& rank : collective.ranks) {
      if (!held.contains(rank.rank)) continue;
      const bool is_held = last != last_arrivals.end() && root_of(traces, collective) == &rank;
      moving[rank.rank].push_back(
          {origin_ns_ + (is_held ? last->second : rank.arrival_ns + rank.wait_ns), origin_ns_ + rank.end_ns});
    }
  }
  for (auto& [rank, intervals] : held) {
    IntervalSet busy = IntervalSet::from(std::move(moving[rank]));
    if (const auto trace = traces.find(rank); trace != traces.end())
      busy = unite(compute_of(*trace->second), busy);
    by_rank_[rank] = subtract(IntervalSet::from(std::move(intervals)), busy);
  }
  for (auto& [ranks, intervals] : held_for) {
    const auto& [receiver, root] = ranks;
    std::int64_t& sum = by_receiver_[receiver];
    sum = saturating_add(sum, intersect(IntervalSet::from(std::move(intervals)), by_rank_[root]).measure());
  }
  for (const RankReport& rank : report.ranks)
    all_ns_ = saturating_add(all_ns_, of(rank.rank, rank.begin_ns, rank.end_ns));
}

std::int64_t RootWaits::of(Operation operation) const {
  const auto found = by_operation_.find(operation);
  return found == by_operation_.end() ? 0 : found->second;
}

std::int64_t RootWaits::in(const CollectiveRank& rank) const {
  // What it waits for in another operation meanwhile is no part of that one's transfer.
  return std::min(rank.transfer_ns, of(rank.rank, rank.arrival_ns + rank.wait_ns, rank.end_ns));
}

std::int64_t RootWaits::for_receiver(std::int32_t rank) const {
  const auto found = by_receiver_.find(rank);
  return found == by_receiver_.end() ? 0 : found->second;
}

std::int64_t RootWaits::of(std::int32_t rank, std::int64_t begin_ns, std::int64_t end_ns) const {
  const auto found = by_rank_.find(rank);
  return found == by_rank_.end() ? 0
                                 : found->second.measure_within(origin_ns_ + begin_ns, origin_ns_ + end_ns);
}

}  // namespace lockstep::analyzer

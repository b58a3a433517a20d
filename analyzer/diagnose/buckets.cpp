#include "analyzer/diagnose/buckets.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/intervals/median.h"
#include "analyzer/metrics/windows.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr std::int64_t kLeastBucketBytes = 4096;

using Buckets = std::vector<const CollectiveReport*>;
using GroupKey = std::pair<std::string, std::vector<std::int32_t>>;

std::int64_t transfer_of(const CollectiveReport& collective) {
  std::int64_t sum = 0;
  for (const CollectiveRank& rank : collective.ranks) sum = saturating_add(sum, rank.transfer_ns);
  return sum;
}

// What the wire took: the last arriver waits for nobody.
std::int64_t wire_time(const CollectiveReport& collective) {
  std::int64_t least = collective.ranks.front().transfer_ns;
  for (const CollectiveRank& rank : collective.ranks) least = std::min(least, rank.transfer_ns);
  return least;
}

Nanoseconds last_arrival(const CollectiveReport& collective) {
  Nanoseconds last = collective.ranks.front().arrival_ns;
  for (const CollectiveRank& rank : collective.ranks) last = std::max(last, rank.arrival_ns);
  return last;
}

// Buckets of the group with the most bytes, by step.
std::map<std::int64_t, Buckets> buckets_by_step(const Report& report) {
  std::map<GroupKey, std::pair<std::int64_t, std::map<std::int64_t, Buckets>>> groups;
  for (const CollectiveReport& collective : report.collectives) {
    if (collective.operation != Operation::all_reduce || !collective.step || collective.partial) continue;
    if (!collective.bytes || *collective.bytes < kLeastBucketBytes) continue;
    auto& [bytes, steps] = groups[{collective.group_name, collective.group_ranks}];
    bytes = saturating_add(bytes, *collective.bytes);
    steps[*collective.step].push_back(&collective);
  }
  const auto most = std::max_element(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return a.second.first < b.second.first;
  });
  return most == groups.end() ? std::map<std::int64_t, Buckets>{} : most->second.second;
}

void fit_latency(const std::map<std::int64_t, std::vector<std::int64_t>>& wire_by_bytes,
                 BucketSteps& result) {
  if (wire_by_bytes.empty()) return;
  const auto& [small_bytes, small_times] = *wire_by_bytes.begin();
  const auto& [large_bytes, large_times] = *wire_by_bytes.rbegin();
  const auto small = static_cast<double>(lower_median(small_times)),
             large = static_cast<double>(lower_median(large_times));
  if (large_bytes < 4 * small_bytes || large <= small) return;
  const double bandwidth = static_cast<double>(large_bytes - small_bytes) / (large - small);
  const double latency = small - static_cast<double>(small_bytes) / bandwidth;
  if (latency <= 0) return;
  result.latency_ns = latency;
  result.bytes_per_ns = bandwidth;
}

// Those that were recorded: of short ones there may be none.
IntervalSet backward_passes(const RankTrace& rank, const StringTable& strings) {
  std::vector<Interval> passes;
  for (const HostRange& range : rank.host_ranges)
    if (range.kind == HostKind::other && strings.view(range.name) == "backward")
      passes.push_back({range.begin, range.end});
  return IntervalSet::from(std::move(passes));
}

struct RankPasses {
  const RankTrace* trace = nullptr;
  IntervalSet passes;
};

enum class Handed : std::uint8_t { unknown, within_backward, behind_backward };

Handed when_handed(const RankPasses& rank, std::uint32_t activity) {
  if (activity >= rank.trace->activities.size()) return Handed::unknown;
  const Activity& operation = rank.trace->activities[activity];
  const Nanoseconds handed = operation.launch_begin;
  // An operation whose launch is its begin may have been handed over before, to the thread that runs it.
  if (handed == kUnknownTime || handed == operation.begin) return Handed::unknown;
  const std::uint32_t step = launching_step(*rank.trace, operation);
  if (step == kNone) return Handed::unknown;
  if (rank.passes.contains(handed)) return Handed::within_backward;
  const std::size_t next = rank.passes.first_ending_after(handed);
  return next > 0 && rank.passes.intervals()[next - 1].begin >= rank.trace->steps[step].begin
             ? Handed::behind_backward
             : Handed::unknown;
}

}  // namespace

bool are_reduced_behind_backward(const Job& job, const Report& report) {
  std::map<std::int32_t, RankPasses> ranks;
  for (const RankTrace& rank : job.ranks) ranks[rank.rank] = {&rank, backward_passes(rank, job.strings)};
  bool behind = false;
  for (const auto& [step, buckets] : buckets_by_step(report)) {
    for (const CollectiveReport* bucket : buckets) {
      for (const CollectiveRank& part : bucket->ranks) {
        const auto rank = ranks.find(part.rank);
        const Handed handed =
            rank != ranks.end() ? when_handed(rank->second, part.activity) : Handed::unknown;
        if (handed == Handed::within_backward) return false;
        behind = behind || handed == Handed::behind_backward;
      }
    }
  }
  return behind;
}

std::optional<BucketSteps> look_at_buckets(const Report& report) {
  const std::map<std::int64_t, Buckets> by_step = buckets_by_step(report);
  if (by_step.empty()) return std::nullopt;
  std::map<std::int64_t, Nanoseconds> step_begin;
  for (const StepReport& step : report.steps) {
    const auto [entry, inserted] = step_begin.try_emplace(step.step, step.begin_ns);
    entry->second = std::min(entry->second, step.begin_ns);
  }
  BucketSteps result;
  result.data_type = by_step.begin()->second.front()->data_type;
  std::vector<std::int64_t> counts, step_bytes, bytes, first_bytes;
  std::vector<double> first_starts;
  std::map<std::int64_t, std::vector<std::int64_t>> wire_by_bytes;
  for (const auto& [step, buckets] : by_step) {  // buckets stand in order of first arrival
    const auto begin = step_begin.find(step);
    if (begin == step_begin.end()) continue;
    std::int64_t sum = 0;
    for (const CollectiveReport* bucket : buckets) {
      sum = saturating_add(sum, *bucket->bytes);
      bytes.push_back(*bucket->bytes);
      result.transfer_ns = saturating_add(result.transfer_ns, transfer_of(*bucket));
      wire_by_bytes[*bucket->bytes].push_back(wire_time(*bucket));
    }
    result.first_transfer_ns = saturating_add(result.first_transfer_ns, transfer_of(*buckets.front()));
    const auto until_last = static_cast<double>(last_arrival(*buckets.back()) - begin->second);
    if (until_last > 0) {
      first_starts.push_back(static_cast<double>(last_arrival(*buckets.front()) - begin->second) /
                             until_last);
    }
    counts.push_back(static_cast<std::int64_t>(buckets.size()));
    step_bytes.push_back(sum);
    first_bytes.push_back(*buckets.front()->bytes);
  }
  if (counts.empty()) return std::nullopt;
  for (const CollectiveReport& collective : report.collectives) {
    result.all_transfer_ns = saturating_add(result.all_transfer_ns, transfer_of(collective));
  }
  result.steps = counts.size();
  result.per_step = lower_median(counts);
  result.bytes_per_step = lower_median(step_bytes);
  result.bucket_bytes = lower_median(bytes);
  result.first_bytes = lower_median(first_bytes);
  if (!first_starts.empty()) result.first_start = lower_median(first_starts);
  fit_latency(wire_by_bytes, result);
  return result;
}

}  // namespace lockstep::analyzer

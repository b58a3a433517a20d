#include "analyzer/diagnose/sharded_steps.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/intervals/median.h"
#include "analyzer/model/gpus.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr std::int64_t kLeastPerStep = 4;
// The host is held back where it launched nothing for this long, and something on the device ended right
// before it went on.
constexpr Nanoseconds kHeldBack = 100'000;
constexpr Nanoseconds kRightBefore = 100'000;

using GroupKey = std::pair<std::string, std::vector<std::int32_t>>;

// When a rank's host launched and waited, and when something on its device ended.
class Host {
 public:
  Host(const RankTrace& rank, const StringTable& strings) {
    std::vector<Interval> waits;
    for (const Activity& activity : rank.activities) {
      if (is_host_wait(activity, strings)) waits.push_back({activity.begin, activity.end});
      if (activity.launch_end != kUnknownTime) launches_.push_back(activity.launch_end);
      ends_.push_back(activity.end);
    }
    std::sort(launches_.begin(), launches_.end());
    std::sort(ends_.begin(), ends_.end());
    waits_ = IntervalSet::from(std::move(waits));
  }

  // How long it launched nothing before `launch`, if it then went on because something was over; else 0.
  std::int64_t held_back_before(Nanoseconds launch) const {
    const auto next = std::lower_bound(launches_.begin(), launches_.end(), launch);
    if (next == launches_.begin()) return 0;
    const std::int64_t silent = launch - *std::prev(next);
    if (silent < kHeldBack) return 0;
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), launch);
    if (end == ends_.begin() || launch - *std::prev(end) > kRightBefore) return 0;
    // Where waiting was recorded, a host that did something else all the time was not held back.
    if (!waits_.empty() && 2 * waits_.measure_within(*std::prev(next), launch) < silent) return 0;
    return silent;
  }

 private:
  std::vector<Nanoseconds> launches_, ends_;
  IntervalSet waits_;
};

std::map<std::int32_t, std::size_t> rank_indices(const Job& job) {
  std::map<std::int32_t, std::size_t> indices;
  for (std::size_t i = 0; i < job.ranks.size(); ++i) indices[job.ranks[i].rank] = i;
  return indices;
}

// The all-gathers of the group that gathers for longest.
std::vector<const CollectiveReport*> longest_gathering(const Report& report,
                                                       const ActivationGroups& activations) {
  std::map<GroupKey, std::pair<std::int64_t, std::vector<const CollectiveReport*>>> groups;
  for (const CollectiveReport& collective : report.collectives) {
    if (collective.operation != Operation::all_gather || !collective.step || activations.has(collective))
      continue;
    auto& [time, list] = groups[{collective.group_name, collective.group_ranks}];
    for (const CollectiveRank& rank : collective.ranks)
      time = saturating_add(time, rank.end_ns - rank.arrival_ns);
    list.push_back(&collective);
  }
  std::vector<const CollectiveReport*> longest;
  std::int64_t most = -1;
  for (auto& [key, group] : groups) {
    if (group.first <= most) continue;
    most = group.first;
    longest = std::move(group.second);
  }
  return longest;
}

void add_launches(const Job& job, const std::vector<const CollectiveReport*>& gathers, Gathering& result) {
  const std::map<std::int32_t, std::size_t> indices = rank_indices(job);
  std::map<std::int32_t, Host> hosts;
  for (const CollectiveReport* gather : gathers) {
    for (const CollectiveRank& rank : gather->ranks) {
      const RankTrace& trace = job.ranks[indices.at(rank.rank)];
      const Activity& activity = trace.activities[rank.activity];
      if (activity.launch_begin == kUnknownTime || activity.launch_begin == activity.begin) continue;
      ++result.all_gathers;
      const Host& host = hosts.try_emplace(rank.rank, trace, job.strings).first->second;
      const std::int64_t silent = host.held_back_before(activity.launch_begin);
      if (silent == 0) continue;
      ++result.held_back;
      result.held_back_ns = saturating_add(result.held_back_ns, std::min(silent, rank.exposed_transfer_ns()));
    }
  }
}

// Whether computations begin between one all-gather and the next, more often than not: layer after layer is
// gathered. Stages 1 and 2 of ZeRO gather all parameters in a row when the optimizer is through.
bool is_layer_by_layer(const Job& job, const std::vector<const CollectiveReport*>& gathers) {
  const std::map<std::int32_t, std::size_t> indices = rank_indices(job);
  struct OfRank {
    std::vector<Nanoseconds> computations;            // begins
    std::map<std::int64_t, Nanoseconds> last_gather;  // by step: the begin
  };
  std::map<std::int32_t, OfRank> ranks;
  std::int64_t pairs = 0, separated = 0;
  for (const CollectiveReport* gather : gathers) {  // in order of first arrival
    for (const CollectiveRank& rank : gather->ranks) {
      const RankTrace& trace = job.ranks[indices.at(rank.rank)];
      const auto [where, fresh] = ranks.try_emplace(rank.rank);
      OfRank& own = where->second;
      if (fresh) {
        for (const Activity& activity : trace.activities)
          if (activity.activity_class == Class::compute) own.computations.push_back(activity.begin);
      }
      const Nanoseconds begin = trace.activities[rank.activity].begin;
      const auto [last, first_of_step] = own.last_gather.try_emplace(*gather->step, begin);
      if (first_of_step) continue;
      ++pairs;
      const auto next = std::lower_bound(own.computations.begin(), own.computations.end(), last->second);
      separated += next != own.computations.end() && *next < begin ? 1 : 0;
      last->second = begin;
    }
  }
  return 2 * separated > pairs;
}

}  // namespace

std::optional<Gathering> look_at_gathering(const Diagnosis& diagnosis, const Report& report,
                                           const ActivationGroups& activations) {
  const std::vector<const CollectiveReport*> gathers = longest_gathering(report, activations);
  if (gathers.empty()) return std::nullopt;
  Gathering result;
  result.group = gathers.front()->group_name;
  result.data_type = gathers.front()->data_type;
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> steps;  // count and bytes
  bool sizes_known = true;
  for (const CollectiveReport* gather : gathers) {
    auto& [count, bytes] = steps[*gather->step];
    ++count;
    sizes_known = sizes_known && gather->bytes.has_value();
    bytes = saturating_add(bytes, gather->bytes.value_or(0));
    for (const CollectiveRank& rank : gather->ranks) {
      result.all_ns = saturating_add(result.all_ns, rank.end_ns - rank.arrival_ns);
      result.covered_ns = saturating_add(result.covered_ns, rank.covered_ns);
      ++result.records;
      result.ahead += 4 * rank.covered_ns >= rank.end_ns - rank.arrival_ns ? 1 : 0;
      result.transfer_ns = saturating_add(result.transfer_ns, rank.transfer_ns);
      result.exposed_ns = saturating_add(result.exposed_ns, rank.exposed_transfer_ns());
    }
  }
  std::vector<std::int64_t> counts, sizes;
  for (const auto& [step, of_step] : steps) {
    counts.push_back(of_step.first);
    sizes.push_back(of_step.second);
  }
  result.steps = static_cast<std::int64_t>(counts.size());
  result.per_step = lower_median(std::move(counts));
  if (sizes_known) result.bytes_per_step = lower_median(std::move(sizes));
  if (result.per_step < kLeastPerStep || !is_layer_by_layer(diagnosis.job, gathers)) return std::nullopt;
  add_launches(diagnosis.job, gathers, result);
  return result;
}

std::optional<LastScatters> look_at_last_scatters(const Report& report, const ActivationGroups& activations) {
  struct Last {
    std::int64_t count = 0;
    const CollectiveRank* rank = nullptr;
  };
  std::map<std::pair<std::int64_t, std::int32_t>, Last> last;  // of a step and a rank
  for (const CollectiveReport& collective : report.collectives) {
    if (collective.operation != Operation::reduce_scatter || !collective.step || activations.has(collective))
      continue;
    for (const CollectiveRank& rank : collective.ranks) {
      Last& one = last[{*collective.step, rank.rank}];
      ++one.count;
      if (one.rank == nullptr || rank.end_ns > one.rank->end_ns) one.rank = &rank;
    }
  }
  if (last.empty()) return std::nullopt;
  LastScatters result;
  std::vector<std::int64_t> counts;
  for (const auto& [where, one] : last) {
    ++result.count;
    counts.push_back(one.count);
    result.transfer_ns = saturating_add(result.transfer_ns, one.rank->transfer_ns);
    result.exposed_ns = saturating_add(result.exposed_ns, one.rank->exposed_transfer_ns());
  }
  result.per_step = lower_median(std::move(counts));
  return result;
}

}  // namespace lockstep::analyzer

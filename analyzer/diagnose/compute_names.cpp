#include "analyzer/diagnose/compute_names.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/intervals/median.h"

namespace lockstep::analyzer {
namespace {

struct Sum {
  std::int64_t ns = 0, count = 0;
};
using SumByName = std::unordered_map<std::uint32_t, Sum>;

void add_computations(const RankTrace& rank, Nanoseconds begin, Nanoseconds end, SumByName& sums) {
  const auto first =
      std::lower_bound(rank.activities.begin(), rank.activities.end(), begin,
                       [](const Activity& activity, Nanoseconds t) { return activity.begin < t; });
  for (auto activity = first; activity != rank.activities.end() && activity->begin < end; ++activity) {
    if (activity->activity_class != Class::compute) continue;
    Sum& sum = sums[activity->name];
    sum.ns += std::min(end, activity->end) - activity->begin;
    ++sum.count;
  }
}

// Times are sums over the delays.
bool is_more_work(const SlowComputation& slow) {
  if (slow.own_count <= slow.others_count + slow.others_count / 10) return false;
  if (slow.others_count == 0) return true;
  const double of_one = static_cast<double>(slow.others_ns) / static_cast<double>(slow.others_count);
  return static_cast<double>(slow.own_count - slow.others_count) * of_one * 2 >=
         static_cast<double>(slow.own_ns - slow.others_ns);
}

// Ranges of other layers on other ranks, beside those of the named layer on the late one.
void compare_with_other_layers(const Job& job, std::uint32_t late, SlowComputation& slow) {
  std::optional<Computation> own;
  std::vector<std::int64_t> own_ns, others_ns;
  for (const Activity& activity : job.ranks[late].activities) {
    if (activity.name != slow.name || activity.compute == kNone) continue;
    own = job.ranks[late].computations[activity.compute];
    own_ns.push_back(activity.end - activity.begin);
  }
  if (!own || own->layer < 0 || own->pass == Pass::other) return;
  // A few ranks of many are as good: this is asked for every rank that is waited for.
  constexpr std::size_t kPeers = 16;
  const std::size_t every = std::max<std::size_t>(1, job.ranks.size() / kPeers);
  for (std::size_t rank = late % every; rank < job.ranks.size(); rank += every) {
    if (rank == late) continue;
    const RankTrace& trace = job.ranks[rank];
    for (const Activity& activity : trace.activities) {
      if (activity.compute == kNone) continue;
      const Computation& other = trace.computations[activity.compute];
      if (other.pass == own->pass && other.layer >= 0) others_ns.push_back(activity.end - activity.begin);
    }
  }
  if (others_ns.empty()) return;
  slow.own_pass_ns = lower_median(std::move(own_ns));
  slow.other_layers_pass_ns = lower_median(std::move(others_ns));
  slow.is_more_work = *slow.own_pass_ns <= *slow.other_layers_pass_ns + *slow.other_layers_pass_ns / 10;
}

}  // namespace

std::optional<SlowComputation> slowest_computation(const Diagnosis& diagnosis,
                                                   std::span<const Delay* const> delays) {
  if (delays.empty()) return std::nullopt;
  std::map<std::uint32_t, SumByName> by_rank;
  std::int64_t excess = 0;
  const auto late_rank = [&](const Delay& delay) {
    return diagnosis.matching.records_of(diagnosis.matching.matches[delay.match])[delay.late_record].rank;
  };
  for (const Delay* delay : delays) {
    excess += delay->excess_ns;
    for (const MatchRecord record : diagnosis.matching.records_of(diagnosis.matching.matches[delay->match])) {
      const Nanoseconds since = left_at(diagnosis.job, diagnosis.matching, *delay, record.rank);
      if (since == kUnknownTime && delay->since_match != kNone) continue;
      add_computations(diagnosis.job.ranks[record.rank], since, activity_of(diagnosis.job, record).begin,
                       by_rank[record.rank]);
    }
  }
  const std::uint32_t late = late_rank(*delays.front());
  SlowComputation worst;
  for (const auto& [name, own] : by_rank[late]) {
    std::vector<std::int64_t> times, counts;
    for (const auto& [rank, sums] : by_rank) {
      if (rank == late) continue;
      const auto found = sums.find(name);
      times.push_back(found == sums.end() ? 0 : found->second.ns);
      counts.push_back(found == sums.end() ? 0 : found->second.count);
    }
    if (times.empty()) return std::nullopt;  // nobody to compare with
    const std::int64_t typical = lower_median(times);
    const std::int64_t greatest = worst.own_ns - worst.others_ns;
    // Equal excesses: the smaller id, so that the answer does not hang on the order of a hash table.
    if (own.ns - typical < greatest || (own.ns - typical == greatest && name > worst.name)) continue;
    worst = {name, own.ns, typical, own.count, lower_median(counts)};
  }
  if (worst.own_ns <= worst.others_ns) return std::nullopt;
  if (excess > 0)
    worst.share = static_cast<double>(worst.own_ns - worst.others_ns) / static_cast<double>(excess);
  worst.is_more_work = is_more_work(worst);
  if (worst.others_count == 0) compare_with_other_layers(diagnosis.job, late, worst);
  const auto count = static_cast<std::int64_t>(delays.size());
  worst.own_ns /= count;
  worst.others_ns /= count;
  return worst;
}

}  // namespace lockstep::analyzer

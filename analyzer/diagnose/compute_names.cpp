#include "analyzer/diagnose/compute_names.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/diagnose/delay_groups.h"
#include "analyzer/intervals/median.h"
#include "base/time_math.h"

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

std::int64_t count_of(const SumByName& sums) {
  std::int64_t count = 0;
  for (const auto& [name, sum] : sums) count += sum.count;
  return count;
}

// What the late rank computed of each name, and the median of the others, summed over all delays.
struct Beside {
  struct Sums {
    Sum own, others;
    bool others_run_it = false;  // any of them, however few
  };
  std::unordered_map<std::uint32_t, Sums> by_name;  // that the late rank ran
  std::int64_t more_kernels = 0;  // that the late rank ran, whatever their names, more than the others
  std::uint32_t late = 0;
  std::size_t delays = 0;
  bool are_messages = false;
};

// Medians among ranks that are compared over the same delays.
Beside computations_beside_others(const Diagnosis& diagnosis, std::span<const Delay* const> delays) {
  Beside beside;
  for (const DelayGroup& group : delay_groups(diagnosis, delays)) {
    beside.late = group.ranks[group.late];
    beside.delays += group.delays();
    beside.are_messages = group.are_messages;
    const auto [late, others] =
        group.late_and_others<SumByName>([&](std::uint32_t rank, const TimeSpan& span, SumByName& sums) {
          add_computations(diagnosis.job.ranks[rank], span.begin, span.end, sums);
        });
    std::vector<std::int64_t> times(others.size()), counts(others.size());
    for (const auto& [name, own] : late) {
      Beside::Sums& sums = beside.by_name[name];
      for (std::size_t i = 0; i < others.size(); ++i) {
        const auto found = others[i].find(name);
        times[i] = found == others[i].end() ? 0 : found->second.ns;
        counts[i] = found == others[i].end() ? 0 : found->second.count;
        sums.others_run_it = sums.others_run_it || counts[i] > 0;
      }
      sums.own.ns += own.ns;
      sums.own.count += own.count;
      sums.others.ns += lower_median(times);
      sums.others.count += lower_median(counts);
    }
    for (std::size_t i = 0; i < others.size(); ++i) counts[i] = count_of(others[i]);
    beside.more_kernels += count_of(late) - lower_median(std::move(counts));
  }
  return beside;
}

// Of the excess, what a computation has to take that is said to be all of it.
constexpr double kInAddition = 0.7;

// Times are sums over the delays.
// `more_kernels`: how many the late rank ran, whatever their names, more than the others.
bool is_more_work(const SlowComputation& slow, std::int64_t more_kernels) {
  if (slow.own_count <= slow.others_count + slow.others_count / 10) return false;
  // One that nobody else runs may stand in place of another, chosen for another GPU or tuned otherwise: it
  // then takes longer than the excess. A small one may be the last part of such a one: the excess has to lie
  // in it.
  if (slow.others_count == 0)
    return 2 * more_kernels >= slow.own_count && slow.share >= kInAddition && slow.share <= 1 / kInAddition;
  const double of_one = static_cast<double>(slow.others_ns) / static_cast<double>(slow.others_count);
  return static_cast<double>(slow.own_count - slow.others_count) * of_one * 2 >=
         static_cast<double>(slow.own_ns - slow.others_ns);
}

// Ranges of other layers on other ranks, beside those of the late one: of a layer that no other rank runs,
// that it takes time says nothing.
class OtherLayers {
 public:
  OtherLayers(const Job& job, std::uint32_t late) : job_(job), late_(late) {
    for (const Activity& activity : job.ranks[late].activities) {
      if (activity.compute == kNone) continue;
      const Computation& computation = job.ranks[late].computations[activity.compute];
      if (computation.layer < 0 || computation.pass == Pass::other) continue;
      Own& own = own_[activity.name];
      own.pass = computation.pass;
      own.ns.push_back(activity.end - activity.begin);
    }
  }

  struct Pair {
    std::int64_t own_ns = 0, others_ns = 0;  // medians of one pass
  };
  // Nothing where the name is of no layer, or no other layer is known.
  std::optional<Pair> compare(std::uint32_t name) {
    const auto own = own_.find(name);
    if (own == own_.end()) return std::nullopt;
    const std::optional<std::int64_t> others = median_elsewhere(own->second.pass);
    if (!others) return std::nullopt;
    return Pair{lower_median(own->second.ns), *others};
  }

 private:
  struct Own {
    Pass pass = Pass::other;
    std::vector<std::int64_t> ns;
  };

  std::optional<std::int64_t> median_elsewhere(Pass pass) {
    const auto [known, is_new] = elsewhere_.try_emplace(pass);
    if (!is_new) return known->second;
    // A few ranks of many are as good: this is asked for every rank that is waited for.
    constexpr std::size_t kPeers = 16;
    const std::size_t every = std::max<std::size_t>(1, job_.ranks.size() / kPeers);
    std::vector<std::int64_t> times;
    for (std::size_t rank = late_ % every; rank < job_.ranks.size(); rank += every) {
      if (rank == late_) continue;
      const RankTrace& trace = job_.ranks[rank];
      for (const Activity& activity : trace.activities) {
        if (activity.compute == kNone) continue;
        const Computation& other = trace.computations[activity.compute];
        if (other.pass == pass && other.layer >= 0) times.push_back(activity.end - activity.begin);
      }
    }
    if (!times.empty()) known->second = lower_median(std::move(times));
    return known->second;
  }

  const Job& job_;
  std::uint32_t late_;
  std::unordered_map<std::uint32_t, Own> own_;  // by name
  std::map<Pass, std::optional<std::int64_t>> elsewhere_;
};

}  // namespace

std::optional<SlowComputation> slowest_computation(const Diagnosis& diagnosis,
                                                   std::span<const Delay* const> delays) {
  const Beside beside_others = computations_beside_others(diagnosis, delays);
  if (beside_others.delays == 0) return std::nullopt;  // nobody to compare with
  SlowComputation worst;
  OtherLayers other_layers(diagnosis.job, beside_others.late);
  for (const auto& [name, sums] : beside_others.by_name) {
    std::int64_t typical = sums.others.ns;
    std::optional<OtherLayers::Pair> beside;
    if (sums.others.count == 0) beside = other_layers.compare(name);
    if (beside) typical = sums.own.count * beside->others_ns;
    const std::int64_t greatest = worst.own_ns - worst.others_ns;
    // Equal excesses: the smaller id, so that the answer does not hang on the order of a hash table.
    if (sums.own.ns - typical < greatest || (sums.own.ns - typical == greatest && name > worst.name))
      continue;
    worst = {name, sums.own.ns, typical, sums.own.count, sums.others.count, sums.others_run_it};
    if (!beside) continue;
    worst.own_pass_ns = beside->own_ns;
    worst.other_layers_pass_ns = beside->others_ns;
  }
  if (worst.own_ns <= worst.others_ns) return std::nullopt;
  // Before a message the other rank runs other computations, or none: only those of like layers compare.
  if (beside_others.are_messages && !worst.own_pass_ns) return std::nullopt;
  std::int64_t excess = 0;
  for (const Delay* delay : delays) excess = saturating_add(excess, delay->excess_ns);
  if (excess > 0)
    worst.share = static_cast<double>(worst.own_ns - worst.others_ns) / static_cast<double>(excess);
  worst.is_more_work = is_more_work(worst, beside_others.more_kernels);
  if (worst.own_pass_ns)
    worst.is_more_work = *worst.own_pass_ns <= *worst.other_layers_pass_ns + *worst.other_layers_pass_ns / 10;
  const auto count = static_cast<std::int64_t>(beside_others.delays);
  worst.own_ns /= count;
  worst.others_ns /= count;
  return worst;
}

}  // namespace lockstep::analyzer

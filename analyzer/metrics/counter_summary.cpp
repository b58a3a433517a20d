#include "analyzer/metrics/counter_summary.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "analyzer/model/stopped.h"

namespace lockstep::analyzer {
namespace {

// "page faults minor (per s)", "network eth0 sent (bytes/s)"
bool is_rate(std::string_view name) {
  return name.ends_with("(per s)") || name.ends_with("/s)");
}

// A rate's value holds from the point before up to its own (docs/host.md): amounts counted up to each point.
class Amounts {
 public:
  explicit Amounts(const std::vector<CounterPoint>& points) {
    for (const CounterPoint& point : points) {
      if (!std::isfinite(point.value)) continue;
      double amount = 0;
      if (!until_.empty())
        amount = until_.back().amount + point.value * seconds(point.time - until_.back().time);
      until_.push_back({point.time, amount});
    }
  }
  // Before the first point and after the last one nothing is known to have been counted.
  double before(Nanoseconds time) const {
    const auto next = std::lower_bound(until_.begin(), until_.end(), time,
                                       [](const Until& until, Nanoseconds t) { return until.time < t; });
    if (next == until_.begin()) return 0;
    if (next == until_.end()) return until_.back().amount;
    const Until& last = *std::prev(next);
    return last.amount +
           (next->amount - last.amount) * seconds(time - last.time) / seconds(next->time - last.time);
  }

 private:
  static double seconds(Nanoseconds time) { return 1e-9 * static_cast<double>(time); }
  struct Until {
    Nanoseconds time = 0;
    double amount = 0;
  };
  std::vector<Until> until_;
};

}  // namespace

std::vector<CounterReport> summarise_counters(
    const Job& job, const std::function<bool(std::optional<std::int64_t>)>& selected,
    const std::stop_token& stop) {
  std::vector<CounterReport> result;
  for (const RankTrace& rank : job.ranks) {
    throw_if_stopped(stop);
    for (const CounterTrack& track : rank.counters) {
      CounterReport counter{track.name, rank.rank, static_cast<std::int64_t>(track.points.size()), 0, 0,
                            0,          {}};
      bool any = false;
      for (const CounterPoint& point : track.points) {
        if (!std::isfinite(point.value)) continue;
        counter.min = any ? std::min(counter.min, point.value) : point.value;
        counter.max = any ? std::max(counter.max, point.value) : point.value;
        counter.last = point.value;
        any = true;
      }
      if (!any) continue;
      if (is_rate(track.name)) {
        const Amounts amounts(track.points);
        for (const StepMark& step : rank.steps) {
          if (selected(step.number))
            counter.per_step.push_back({step.number, amounts.before(step.end) - amounts.before(step.begin)});
        }
      }
      result.push_back(std::move(counter));
    }
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const CounterReport& a, const CounterReport& b) { return a.name < b.name; });
  return result;
}

}  // namespace lockstep::analyzer

#include "analyzer/lateness/late_since.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "analyzer/intervals/median.h"
#include "analyzer/statistics/median_deviation.h"

namespace lockstep::analyzer {
namespace {

// The ends of the run that are tried: from this part of it on. Whatever begins in between is in the next one.
constexpr std::size_t kParts = 4;
// Before it was late, a rank was like the others: later or earlier by these parts of what it is late then, at
// most. (One that is made late had been earlier than the others as often as not.)
constexpr double kLaterBefore = 0.25, kEarlierBefore = 0.5;
// In a part of the run more happens by chance than in the whole of it: the change is so many times what the
// rank's mean moves between blocks, and so many times any change of another rank.
constexpr double kMovements = 2.5, kOthers = 2;
// Ranks that change within this part of the run change together: a host's.
constexpr double kTogether = 0.05;
// Neither part is shorter than this part of the run: single steps show no level.
constexpr std::size_t kLeastPart = 8;
constexpr double kLeast = 2 * kLeastLateness;

std::vector<double> series_of(const StepTable& table, std::size_t rank) {
  std::vector<double> series;
  for (std::size_t step = 0; step < table.steps.size(); ++step)
    series.push_back(static_cast<double>(table.late(step, rank)));
  return series;
}

// Where the level of a series rises most, and by how much.
struct Rise {
  std::size_t first = 0;         // of the higher part
  double before = 0, since = 0;  // medians
  double explained = 0;          // of the squares about the mean, the part that the split takes away
  double by() const { return since - before; }
};

// The split with the least squares of what is left. Outliers are moved to where the inner nine tenths end.
// Precondition: two values or more.
Rise rise_of(const std::vector<double>& series) {
  std::vector<double> sorted = series;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t count = sorted.size(), edge = count / 20;
  const auto moved = [&](double value) { return std::clamp(value, sorted[edge], sorted[count - 1 - edge]); };
  double sum = 0;
  for (const double value : series) sum += moved(value);
  Rise rise;
  double most = 0, until = 0;
  const std::size_t least = std::max<std::size_t>(1, count / kLeastPart);
  for (std::size_t split = 1; split <= count - least; ++split) {
    until += moved(series[split - 1]);
    if (split < least) continue;
    const auto before = static_cast<double>(split), after = static_cast<double>(count - split);
    const double difference = (sum - until) / after - until / before;
    if (const double explained = before * after * difference * difference;
        difference > 0 && explained > most) {
      most = explained;
      rise.first = split;
    }
  }
  if (rise.first == 0) return rise;
  double squares = 0;
  for (const double value : series) squares += std::pow(moved(value) - sum / static_cast<double>(count), 2);
  rise.explained = most / (static_cast<double>(count) * squares);
  const auto at = series.begin() + static_cast<std::ptrdiff_t>(rise.first);
  rise.before = lower_median(std::vector<double>(series.begin(), at));
  rise.since = lower_median(std::vector<double>(at, series.end()));
  return rise;
}

double mean_of(const std::vector<double>& series, std::size_t first, std::size_t end) {
  double sum = 0;
  for (std::size_t step = first; step < end; ++step) sum += series[step];
  return first < end ? sum / static_cast<double>(end - first) : 0;
}

// By what the rank does longer, which other ranks and other programs move less than its lateness.
void settle_by_cause(const StepTable& table, const Report& report, std::size_t rank, const Rise& rise,
                     LateSince& found) {
  constexpr double kAsBefore = 0.5;
  if (!found.late.cause) return;
  std::vector<double> longer;
  for (std::size_t step = 0; step < table.steps.size(); ++step)
    longer.push_back(
        static_cast<double>(excess_by_cause(table, step, rank)[static_cast<std::size_t>(*found.late.cause)]));
  if (mean_of(longer, 0, rise.first) >= kAsBefore * mean_of(longer, rise.first, longer.size())) {
    found.did_so_before = true;
    return;
  }
  const Rise of_cause = rise_of(longer);
  const std::size_t first = of_cause.first;
  if (first == 0 || first == rise.first || of_cause.explained <= rise.explained) return;
  LateSince settled;
  settled.steps = steps_from(table, first);
  settled.since = judge_lateness(settled.steps, report);
  settled.late = settled.since.ranks[rank];
  settled.step = settled.steps.steps.front();
  const std::vector<double> late = series_of(table, rank);
  settled.before_ns = std::llround(
      lower_median(std::vector<double>(late.begin(), late.begin() + static_cast<std::ptrdiff_t>(first))));
  if (settled.late.is_late && settled.late.cause == found.late.cause) found = std::move(settled);
}

std::optional<LateSince> beginning_of(const StepTable& table, const Report& report,
                                      const std::vector<Rise>& rises, std::size_t rank) {
  const Rise& rise = rises[rank];
  if (rise.first == 0) return std::nullopt;
  LateSince found;
  found.steps = steps_from(table, rise.first);
  found.since = judge_lateness(found.steps, report);
  found.late = found.since.ranks[rank];
  found.step = found.steps.steps.front();
  found.before_ns = std::llround(rise.before);
  const double since = std::min(rise.since, static_cast<double>(found.late.mean_ns));
  if (!found.late.is_late || found.late.share < kLeast || rise.before > kLaterBefore * since ||
      rise.before < -kEarlierBefore * since ||
      rise.by() < kMovements * static_cast<double>(found.late.movement_ns))
    return std::nullopt;
  const double together = kTogether * static_cast<double>(table.steps.size());
  for (const Rise& other : rises) {
    const double apart = std::abs(static_cast<double>(other.first) - static_cast<double>(rise.first));
    if (apart > together && rise.by() < kOthers * other.by()) return std::nullopt;
  }
  settle_by_cause(table, report, rank, rise, found);
  return found;
}

}  // namespace

std::vector<LateSince> late_since(const StepTable& table, const Report& report) {
  constexpr double kLevel = kLatenessLevel / (kParts - 1);
  const std::size_t steps = table.steps.size();
  std::vector<bool> is_late(table.rank_count(), false);
  for (std::size_t part = 1; part < kParts; ++part) {
    const LatenessReport end = judge_lateness(steps_from(table, steps * part / kParts), report, kLevel);
    for (std::size_t rank = 0; rank < end.ranks.size(); ++rank)
      if (end.ranks[rank].is_late) is_late[rank] = true;
  }
  if (std::find(is_late.begin(), is_late.end(), true) == is_late.end()) return {};
  std::vector<Rise> rises;
  for (std::size_t rank = 0; rank < table.rank_count(); ++rank)
    rises.push_back(rise_of(series_of(table, rank)));
  std::vector<LateSince> found;
  for (std::size_t rank = 0; rank < is_late.size(); ++rank) {
    if (!is_late[rank]) continue;
    if (std::optional<LateSince> since = beginning_of(table, report, rises, rank))
      found.push_back(*std::move(since));
  }
  return found;
}

}  // namespace lockstep::analyzer

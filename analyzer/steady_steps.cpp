#include "analyzer/steady_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <numbers>
#include <string>
#include <utility>

#include "analyzer/diagnose/interruptions.h"
#include "analyzer/intervals/median.h"
#include "analyzer/metrics/waiting_times.h"
#include "analyzer/report/quantity.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kLeastSteps = 4;
constexpr std::size_t kLeastLeft = 2;
constexpr std::size_t kLongestShortPrefix = 10;
constexpr std::size_t kFew = 20;  // too few to know the noise
constexpr std::size_t kFewForDrift = 8;

struct Explained {
  Phase phase;
  const char* reason;
};
constexpr Explained kExplained[] = {{Phase::compilation, "compilation"},
                                    {Phase::checkpoint, "checkpoint"},
                                    {Phase::evaluation, "evaluation"},
                                    {Phase::start_up, "start-up"}};

std::int64_t median_of(std::span<const StepLength> steps) {
  std::vector<std::int64_t> lengths;
  for (const StepLength& step : steps) lengths.push_back(step.ns);
  return lower_median(std::move(lengths));
}

// By step: why a range says that it is no steady training; nullptr where none does.
std::vector<const Explained*> explain(std::span<const StepLength> steps) {
  std::vector<const Explained*> reasons(steps.size(), nullptr);
  std::vector<std::int64_t> most(steps.size(), 0);  // the reason is what took longest
  for (const Explained& explained : kExplained) {
    const StepsWith with = steps_with(steps, explained.phase);
    if (with.is_usual) continue;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      // At least something: what all lies in others may be longer than each of these.
      const std::int64_t ns =
          std::max<std::int64_t>(1, steps[i].counted_of_any_ns[static_cast<std::size_t>(explained.phase)]);
      if (!with.holds[i] || ns <= most[i]) continue;
      reasons[i] = &explained;
      most[i] = ns;
    }
  }
  return reasons;
}

// What a step must take to be long, by the second half; lengths are positive and far from overflow.
double long_from(std::span<const std::int64_t> lengths) {
  std::vector<std::int64_t> tail(lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2),
                                 lengths.end());
  const std::int64_t median = lower_median(tail);
  for (std::int64_t& ns : tail) ns = ns > median ? ns - median : median - ns;
  const std::int64_t deviation = lower_median(std::move(tail));
  const auto m = static_cast<double>(median);
  return std::max((lengths.size() < kFew ? 1.5 : 1.25) * m, m + 6 * 1.4826 * static_cast<double>(deviation));
}

// Whether each of the first is twice as long as all but two of a hundred behind them: then what follows them
// may be long as well.
bool tower_above(std::span<const std::int64_t> prefix, std::span<const std::int64_t> rest) {
  const std::int64_t half = *std::min_element(prefix.begin(), prefix.end()) / 2;
  const auto longer = static_cast<std::size_t>(
      std::count_if(rest.begin(), rest.end(), [half](std::int64_t ns) { return ns >= half; }));
  return longer * 50 <= rest.size();
}

// How many of the first are warm-up.
std::size_t prefix_of(std::span<const std::int64_t> lengths) {
  if (lengths.size() < kLeastSteps) return 0;
  const double threshold = long_from(lengths);
  const std::size_t most = std::max(std::min(lengths.size() / 2, kLongestShortPrefix), lengths.size() / 3);
  for (std::size_t count = most; count > 0; --count) {
    const std::span<const std::int64_t> prefix = lengths.first(count), rest = lengths.subspan(count);
    if (static_cast<double>(prefix.back()) <= threshold) continue;
    // It does not end there.
    if (static_cast<double>(rest.front()) > threshold && !tower_above(prefix, rest)) continue;
    const auto longs = static_cast<std::size_t>(std::count_if(
        prefix.begin(), prefix.end(), [&](std::int64_t ns) { return static_cast<double>(ns) > threshold; }));
    if (longs * 3 < count * 2) continue;
    const std::int64_t typical = lower_median(std::vector<std::int64_t>(prefix.begin(), prefix.end()));
    const auto longer = static_cast<std::size_t>(
        std::count_if(rest.begin(), rest.end(), [&](std::int64_t ns) { return ns >= typical; }));
    if (longer * 50 <= rest.size()) return count;
  }
  return 0;
}

// Of n values with deviation d a median has an error of 1.25 d / √n; the difference of two √2 times that.
double error_of_difference(double deviation, double count) {
  return std::numbers::sqrt2 * 1.2533 * deviation / std::sqrt(count);
}

// How much steps differ from one to the next beyond what they all grow by: what is left where a trend is
// taken off, of few of which nobody knows how they would lie around their median.
double noise_around_trend(std::span<const StepLength> steps) {
  std::vector<std::int64_t> changes;
  for (std::size_t i = 1; i < steps.size(); ++i) changes.push_back(steps[i].ns - steps[i - 1].ns);
  const std::int64_t trend = lower_median(changes);
  for (std::int64_t& change : changes) change = std::abs(change - trend);
  return 1.4826 * static_cast<double>(lower_median(std::move(changes))) / std::numbers::sqrt2;
}

// Of how many more pairs of steps the later one is longer than of how many it is shorter, in standard
// deviations of what steps in any order have (Kendall).
double order_of(std::span<const StepLength> steps) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (std::size_t j = i + 1; j < steps.size(); ++j)
      sum += (steps[j].ns > steps[i].ns ? 1 : 0) - (steps[j].ns < steps[i].ns ? 1 : 0);
  const auto n = static_cast<double>(steps.size());
  return static_cast<double>(sum) / std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
}

// Of few steps a change by half as much again has to be seen: their noise is hardly known, and a smaller one
// may be that.
std::optional<StepDrift> find_great_drift(std::span<const StepLength> steps) {
  constexpr double kOrdered = 3, kErrors = 6;
  if (steps.size() < kFewForDrift) return std::nullopt;
  std::array<double, 3> medians{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t begin = i * steps.size() / 3, end = (i + 1) * steps.size() / 3;
    medians[i] = static_cast<double>(median_of(steps.subspan(begin, end - begin)));
  }
  const double sign = medians[2] > medians[0] ? 1 : -1;
  const double in_all = sign * (medians[2] - medians[0]);
  const double error = error_of_difference(noise_around_trend(steps), static_cast<double>(steps.size()) / 3);
  if (in_all < std::min(medians[0], medians[2]) / 2 || in_all < kErrors * error) return std::nullopt;
  // Neither steps that settled after a while nor ones that took a leap once are still changing.
  const double least = in_all / 5;
  if (sign * (medians[1] - medians[0]) < least || sign * (medians[2] - medians[1]) < least)
    return std::nullopt;
  if (sign * order_of(steps) < kOrdered) return std::nullopt;
  return StepDrift{static_cast<std::int64_t>(medians[0]), static_cast<std::int64_t>(medians[2])};
}

// What of the rank's phases lies outside of operations with others.
std::array<IntervalSet, kPhaseCount> outside_of_operations(const RankTrace& rank, const Phases& phases) {
  std::array<IntervalSet, kPhaseCount> own;
  if (std::ranges::all_of(phases.of, &IntervalSet::empty)) return own;
  const IntervalSet communicating = communicating_alone(rank);
  for (std::size_t i = 0; i < kPhaseCount; ++i) own[i] = subtract(phases.of[i], communicating);
  return own;
}

// Whatever they look like, so many steps are the least of which a smaller change would show as well.
std::string what_would_show_drift(std::size_t steps) {
  return steps < kFew ? fmt::format("Record until it stays, {} steady steps or more", kFew)
                      : "Record until it stays";
}

}  // namespace

StepsWith steps_with(std::span<const StepLength> steps, Phase phase) {
  const std::int64_t median = median_of(steps), worth = std::max<std::int64_t>(1, median / 20);
  const auto kind = static_cast<std::size_t>(phase);
  StepsWith with;
  std::size_t count = 0;
  for (const StepLength& step : steps) {
    const std::int64_t ns = step.phase_of_any_ns[kind];
    const bool is_untouched =
        step.beside_others_ns[kind] > 0 && step.beside_others_ns[kind] < median + ns / 2;
    with.holds.push_back(phase == Phase::start_up ? ns > step.ns / 2 : ns >= worth && !is_untouched);
    count += with.holds.back() ? 1 : 0;
  }
  with.is_usual = count > steps.size() / 2;
  return with;
}

std::optional<SteadyChoice> choose_steady_steps(std::span<const StepLength> steps) {
  if (steps.size() < kLeastSteps) return std::nullopt;
  std::vector<const Explained*> explained = explain(steps);
  std::vector<std::size_t> unexplained;
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (explained[i] != nullptr) continue;
    unexplained.push_back(i);
    lengths.push_back(std::max<std::int64_t>(1, steps[i].ns - steps[i].core_wait_ns));
  }
  std::vector<StepsLeftOut> each(steps.size());  // with no reason: those that are steady
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (explained[i] != nullptr) each[i] = {steps[i].step, steps[i].step, explained[i]->reason};
  for (std::size_t i = 0, count = prefix_of(lengths); i < count; ++i) {
    const StepLength& step = steps[unexplained[i]];
    each[unexplained[i]] = {step.step, step.step, "warm-up"};
  }
  SteadyChoice choice;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (each[i].reason.empty()) {
      choice.steps.push_back(steps[i].step);
    } else if (i > 0 && each[i - 1].reason == each[i].reason) {
      choice.left_out.back().last = each[i].last;
    } else {
      choice.left_out.push_back(each[i]);
    }
  }
  if (choice.steps.size() < kLeastLeft) return std::nullopt;
  return choice;
}

std::optional<StepDrift> find_drift(std::span<const StepLength> steps) {
  if (steps.size() < kFew) return find_great_drift(steps);
  std::array<double, 4> medians{}, deviations{};
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t begin = i * steps.size() / 4, end = (i + 1) * steps.size() / 4;
    const std::span<const StepLength> quarter = steps.subspan(begin, end - begin);
    const std::int64_t median = median_of(quarter);
    std::vector<std::int64_t> apart;
    for (const StepLength& step : quarter) apart.push_back(std::abs(step.ns - median));
    medians[i] = static_cast<double>(median);
    deviations[i] = 1.4826 * static_cast<double>(lower_median(std::move(apart)));
  }
  const bool rises = medians[0] < medians[1] && medians[1] < medians[2] && medians[2] < medians[3];
  const bool falls = medians[0] > medians[1] && medians[1] > medians[2] && medians[2] > medians[3];
  if (!rises && !falls) return std::nullopt;
  const double in_all = std::abs(medians[3] - medians[0]), at_last = std::abs(medians[3] - medians[2]);
  const double error =
      error_of_difference(std::max(deviations[2], deviations[3]), static_cast<double>(steps.size()) / 4);
  if (in_all < std::min(medians[0], medians[3]) / 4 || at_last < medians[2] / 20 || at_last < 3 * error)
    return std::nullopt;
  return StepDrift{static_cast<std::int64_t>(medians[0]), static_cast<std::int64_t>(medians[3])};
}

std::optional<Warning> doubt_of_steady_steps(std::span<const StepLength> steps,
                                             const std::optional<SteadyChoice>& choice) {
  if (!choice)
    return Warning{"no_steady_steps",
                   fmt::format("{}: too few to tell which of them are steady (at least 4 steps, 2 of them "
                               "steady); the report is over all that was recorded",
                               format_plural(static_cast<std::int64_t>(steps.size()), "step")),
                   kNoRank};
  std::vector<StepLength> steady(steps.begin(), steps.end());
  std::erase_if(steady, [&](const StepLength& step) {
    return !std::binary_search(choice->steps.begin(), choice->steps.end(), step.step);
  });
  const std::optional<StepDrift> drift = find_drift(steady);
  if (!drift) return std::nullopt;
  return Warning{
      "steps_drift",
      fmt::format("steps do not settle: their median goes from {} in the first {} of the steady ones "
                  "to {} in the last; figures are means over what is still changing. {}, or look at a part "
                  "(--steps)",
                  format_duration(drift->first_ns), steady.size() < kFew ? "third" : "quarter",
                  format_duration(drift->last_ns), what_would_show_drift(steady.size())),
      kNoRank};
}

void measure_left_out(const Job& job, std::span<const RankWindows> windows, std::span<const Phases> phases,
                      std::vector<StepsLeftOut>& left_out) {
  std::vector<LongestRank> longest(left_out.size());  // by the reason
  std::vector<AloneRank> alone(left_out.size());
  for (std::size_t rank = 0; rank < windows.size(); ++rank) {
    std::vector<std::int64_t> lasted(left_out.size()), of_reason(left_out.size()), own(left_out.size());
    const std::array<IntervalSet, kPhaseCount> own_phases =
        outside_of_operations(job.ranks[rank], phases[rank]);
    for (const StepWindow& step : windows[rank].steps) {
      const auto part =
          std::lower_bound(left_out.begin(), left_out.end(), step.number,
                           [](const StepsLeftOut& one, std::int64_t number) { return one.last < number; });
      if (part == left_out.end() || part->first > step.number) continue;
      const auto i = static_cast<std::size_t>(part - left_out.begin());
      const auto [begin, end] = step.window;
      lasted[i] = saturating_add(lasted[i], end - begin);
      for (const Explained& explained : kExplained) {
        if (part->reason != explained.reason) continue;
        of_reason[i] = saturating_add(of_reason[i], phases[rank][explained.phase].measure_within(begin, end));
        own[i] = saturating_add(
            own[i], own_phases[static_cast<std::size_t>(explained.phase)].measure_within(begin, end));
      }
    }
    for (std::size_t i = 0; i < left_out.size(); ++i) {
      left_out[i].ns = std::max(left_out[i].ns, lasted[i]);
      longest[i].add(of_reason[i], job.ranks[rank].rank);
      alone[i].add(of_reason[i], own[i], job.ranks[rank].rank);
    }
  }
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    left_out[i].reason_ns = longest[i].ns();
    left_out[i].rank = alone[i].alone();
  }
}

std::int64_t first_after_warm_up(const SteadyChoice& choice) {
  const std::int64_t steady = choice.steps.front();
  return !choice.left_out.empty() && choice.left_out.front().first < steady
             ? steady
             : std::numeric_limits<std::int64_t>::min();
}

}  // namespace lockstep::analyzer

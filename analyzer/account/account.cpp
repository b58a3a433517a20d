#include "analyzer/account/account.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <unordered_map>

#include "analyzer/intervals/sweep.h"
#include "analyzer/intervals/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();
constexpr Nanoseconds kAlways = std::numeric_limits<Nanoseconds>::min();

IntervalSet one(Nanoseconds begin, Nanoseconds end) {
  IntervalSet set;
  set.append(begin, end);
  return set;
}

// The first computation of a step: communication before it sets the model up.
Nanoseconds first_computation(const RankTrace& rank, const StepWindow& step) {
  for (const Activity& activity : rank.activities) {
    if (activity.begin >= step.window.end) break;
    if (activity.activity_class == Class::compute && activity.begin >= step.window.begin)
      return activity.begin;
  }
  return step.window.begin;
}

bool failed(const Job& job) {
  return (job.end.exit_code && *job.end.exit_code != 0) || job.end.signal.has_value() ||
         std::any_of(job.ranks.begin(), job.ranks.end(),
                     [](const RankTrace& rank) { return rank.ending.hang_noted != kUnknownTime; });
}

}  // namespace

Phases find_phases(const RankTrace& rank, const StringTable& strings) {
  std::unordered_map<std::uint32_t, std::optional<Phase>> known;  // by name
  std::array<std::vector<Interval>, kPhaseCount> found;
  for (const HostRange& range : rank.host_ranges) {
    if (range.kind == HostKind::launch || range.kind == HostKind::step ||
        range.kind == HostKind::python_place)
      continue;
    const auto [where, fresh] = known.try_emplace(range.name);
    if (fresh) where->second = phase_of_range(strings.view(range.name));
    if (where->second) found[static_cast<std::size_t>(*where->second)].push_back({range.begin, range.end});
  }
  Phases phases;
  for (std::size_t i = 0; i < kPhaseCount; ++i) phases.of[i] = IntervalSet::from(std::move(found[i]));
  return phases;
}

std::vector<SpendingSegment> divide(const SpendingSets& sets, Interval wall) {
  constexpr std::size_t kSets = kSpendingCount - 1;  // without `other`
  static_assert(static_cast<std::size_t>(Spending::other) == kSets);
  std::array<const IntervalSet*, kSets> order{};
  for (std::size_t i = 0; i < kSets; ++i) order[i] = &sets[i];
  std::vector<SpendingSegment> segments;
  sweep(order, wall.begin, wall.end, [&](Nanoseconds from, Nanoseconds to, unsigned covered) {
    const auto spending =
        static_cast<Spending>(covered == 0 ? kSets : static_cast<std::size_t>(std::countr_zero(covered)));
    if (!segments.empty() && segments.back().spending == spending)
      segments.back().end = to;
    else
      segments.push_back({from, to, spending});
  });
  return segments;
}

Account sum(std::span<const SpendingSegment> segments) {
  Account account;
  for (const SpendingSegment& segment : segments) account[segment.spending] += segment.end - segment.begin;
  return account;
}

Interval known_time(const RankTrace& rank) {
  Interval known{kNever, kAlways};
  const auto see = [&known](Nanoseconds begin, Nanoseconds end) {
    known.begin = std::min(known.begin, begin);
    known.end = std::max(known.end, end);
  };
  for (const Activity& activity : rank.activities) see(activity.begin, activity.end);
  for (const HostRange& range : rank.host_ranges) see(range.begin, range.end);
  for (const StepMark& step : rank.steps) see(step.begin, step.end);
  if (known.begin > known.end) return {};
  if (rank.ending.recorded_until != kUnknownTime) known.end = std::max(known.end, rank.ending.recorded_until);
  return known;
}

SpendingSets spending_of(const RankTrace& rank, const RankWindows& windows, const Phases& phases,
                         Interval wall, std::int64_t first_after_warm_up, bool job_failed) {
  SpendingSets sets;
  const auto set = [&sets](Spending spending) -> IntervalSet& {
    return sets[static_cast<std::size_t>(spending)];
  };
  for (const TimeSpan& span : rank.unrecorded) set(Spending::not_recorded).append(span.begin, span.end);
  set(Spending::compilation) = phases[Phase::compilation];
  set(Spending::checkpoint) = phases[Phase::checkpoint];
  set(Spending::evaluation) = phases[Phase::evaluation];
  Nanoseconds last_work = kAlways, first_work = kNever;
  for (const Activity& activity : rank.activities) {
    if (!is_work(activity)) continue;
    first_work = std::min(first_work, activity.begin);
    last_work = std::max(last_work, activity.end);
  }
  const StepWindow* first = nullptr;
  for (const StepWindow& step : windows.steps) {
    if (step.window.begin >= step.window.end) continue;
    if (first == nullptr) first = &step;
    last_work = std::max(last_work, step.window.end);
    set(step.number < first_after_warm_up ? Spending::warm_up : Spending::steady)
        .append(step.window.begin, step.window.end);
  }
  if (job_failed && last_work != kAlways) set(Spending::after_failure) = one(last_work, wall.end);
  // Where nothing was ever computed, the job never came further than its start.
  Nanoseconds started = first != nullptr ? first_computation(rank, *first) : first_work;
  set(Spending::start_up) = unite(phases[Phase::start_up], one(wall.begin, std::min(started, wall.end)));
  if (first != nullptr)
    for (auto step = windows.steps.rbegin(); step != windows.steps.rend(); ++step) {
      if (step->window.begin >= step->window.end) continue;
      set(Spending::shutdown) = one(step->window.end, wall.end);
      break;
    }
  return sets;
}

AccountReport account_for(const Job& job, std::span<const RankWindows> windows,
                          std::span<const Phases> phases, std::int64_t first_after_warm_up, bool steps_told,
                          Nanoseconds origin) {
  AccountReport report;
  Interval all{kNever, kAlways};
  std::int64_t longest = 0;
  bool related = true;
  std::vector<Interval> known;
  for (const RankTrace& rank : job.ranks) {
    known.push_back(known_time(rank));
    if (known.back().begin >= known.back().end) continue;
    all.begin = std::min(all.begin, known.back().begin);
    all.end = std::max(all.end, known.back().end);
    longest = std::max(longest, known.back().end - known.back().begin);
    related = related && rank.clock.related;
  }
  if (longest == 0) return report;
  report.begin_ns = saturating_add(all.begin, -origin);
  report.wall_ns = related ? all.end - all.begin : longest;
  const bool job_failed = failed(job);
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    if (known[i].begin >= known[i].end) continue;
    const Nanoseconds begin = related ? all.begin : known[i].begin;
    const Interval wall{begin, begin + report.wall_ns};
    const auto segments =
        divide(spending_of(job.ranks[i], windows[i], phases[i], wall, first_after_warm_up, job_failed), wall);
    RankAccount account{job.ranks[i].rank, sum(segments),
                        phases[i][Phase::checkpoint_beside].measure_within(wall.begin, wall.end)};
    for (std::size_t s = 0; s < kSpendingCount; ++s)
      report.spent.ns[s] = saturating_add(report.spent.ns[s], account.spent.ns[s]);
    report.ranks.push_back(account);
  }
  const std::int64_t recorded = report.recorded_ns();
  if (steps_told && recorded > 0)
    report.goodput = static_cast<double>(report.spent[Spending::steady]) / static_cast<double>(recorded);
  return report;
}

}  // namespace lockstep::analyzer

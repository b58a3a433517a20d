#include "analyzer/account/account.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <unordered_map>

#include "analyzer/intervals/sweep.h"
#include "analyzer/model/hang_length.h"
#include "analyzer/model/is_communication.h"
#include "analyzer/model/survivor.h"
#include "base/time_math.h"

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

// From the first event to the last one; reversed where there is none.
Interval read_time(const RankTrace& rank) {
  Interval read{kNever, kAlways};
  const auto see = [&read](Nanoseconds begin, Nanoseconds end) {
    read.begin = std::min(read.begin, begin);
    read.end = std::max(read.end, end);
  };
  for (const Activity& activity : rank.activities) see(activity.begin, activity.end);
  for (const HostRange& range : rank.host_ranges) see(range.begin, range.end);
  for (const StepMark& step : rank.steps) see(step.begin, step.end);
  return read;
}

void add(const Account& account, Account& sum) {
  for (std::size_t i = 0; i < kSpendingCount; ++i) sum.ns[i] = saturating_add(sum.ns[i], account.ns[i]);
}

Nanoseconds last_end(const IntervalSet& set, Nanoseconds otherwise) {
  return set.empty() ? otherwise : set.intervals().back().end;
}

// What ranges tell that takes the rank's time.
IntervalSet told_by_ranges(const Phases& phases) {
  IntervalSet told = phases[Phase::start_up];
  for (const Phase phase : {Phase::compilation, Phase::checkpoint, Phase::evaluation})
    told = unite(told, phases[phase]);
  return told;
}

bool failed(const Job& job) {
  return (job.end.exit_code && *job.end.exit_code != 0) || job.end.signal.has_value() ||
         std::any_of(job.ranks.begin(), job.ranks.end(),
                     [](const RankTrace& rank) { return rank.ending.hang_noted != kUnknownTime; });
}

// Whether an operation of the rank never ended. One that an interruption ended counts only if it was as long
// as a hang: a job at work is always in one.
bool stood_in_operation(const RankTrace& rank) {
  const std::vector<OpenOperation>& open = rank.ending.operations;
  const Nanoseconds interrupted = rank.ending.interrupted;
  if (open.empty() || interrupted == kUnknownTime) return !open.empty();
  const Nanoseconds longest = longest_operation(rank);
  return std::any_of(open.begin(), open.end(), [&](const OpenOperation& operation) {
    return is_as_long_as_a_hang(interrupted - operation.begin, longest);
  });
}

bool has_several_ranks(const Job& job) {
  return job.ranks.size() > 1 || std::any_of(job.groups.begin(), job.groups.end(), [](const JobGroup& group) {
           return group.size > 1 || group.ranks.size() > 1;
         });
}

// Some rank ended by itself long before the job was interrupted, and another one did not: it may have waited
// for it.
bool ended_before_interruption(const Job& job) {
  const auto ended = [](const RankTrace& rank) { return rank.ending.closed; };
  return !std::all_of(job.ranks.begin(), job.ranks.end(), ended) &&
         std::any_of(job.ranks.begin(), job.ranks.end(), [&](const RankTrace& rank) {
           const Ending& ending = rank.ending;
           return ending.closed && ending.interrupted != kUnknownTime &&
                  ending.recorded_until != kUnknownTime &&
                  ending.recorded_until < ending.interrupted - kLongBeforeInterruption;
         });
}

// Ranks of a job that failed by itself may wait for the one that failed; of any other some rank has to be
// seen in an operation that did not end.
bool waited(const Job& job) {
  if ((!job.end.interrupted_by.has_value() || ended_before_interruption(job)) && has_several_ranks(job))
    return failed(job);
  return failed(job) && std::any_of(job.ranks.begin(), job.ranks.end(), [](const RankTrace& rank) {
           return rank.ending.hang_noted != kUnknownTime || stood_in_operation(rank);
         });
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
  phases[Phase::checkpoint] = subtract(phases[Phase::checkpoint], phases[Phase::compilation]);
  phases[Phase::evaluation] =
      subtract(phases[Phase::evaluation], unite(phases[Phase::compilation], phases[Phase::checkpoint]));
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
  Interval known = read_time(rank);
  if (known.begin > known.end) return {};
  if (rank.ending.recorded_until != kUnknownTime) known.end = std::max(known.end, rank.ending.recorded_until);
  return known;
}

bool is_part_of_a_run(const RankTrace& rank) {
  // Lockstep's own files tell, those that were cut too; no other kind does. A dump is of a whole run that
  // hung.
  return rank.ending.recorded_until == kUnknownTime && rank.ending.hang_noted == kUnknownTime;
}

bool is_cut(const RankTrace& rank, Nanoseconds end) {
  // Losses that the recorder knows of end within the recording.
  return std::any_of(rank.lost.begin(), rank.lost.end(),
                     [end](const TimeSpan& span) { return span.end > end; });
}

Interval start_of(const RankTrace& rank, const RankWindows& windows) {
  const auto first = std::ranges::find_if(
      windows.steps, [](const StepWindow& step) { return step.window.begin < step.window.end; });
  if (first == windows.steps.end() || is_part_of_a_run(rank)) return {};
  return {known_time(rank).begin, first_computation(rank, *first)};
}

SpendingSets spending_of(const RankTrace& rank, const RankWindows& windows, const Phases& phases,
                         Interval wall, std::int64_t first_after_warm_up, JobFacts job) {
  SpendingSets sets;
  const auto set = [&sets](Spending spending) -> IntervalSet& {
    return sets[static_cast<std::size_t>(spending)];
  };
  for (const TimeSpan& span : rank.unrecorded) set(Spending::not_recorded).append(span.begin, span.end);
  if (is_part_of_a_run(rank)) {
    const Interval known = known_time(rank);
    set(Spending::not_recorded) =
        unite(set(Spending::not_recorded),
              unite(one(wall.begin, known.begin), one(std::max(known.end, wall.begin), wall.end)));
  }
  set(Spending::compilation) = phases[Phase::compilation];
  set(Spending::checkpoint) = phases[Phase::checkpoint];
  set(Spending::evaluation) = phases[Phase::evaluation];
  Nanoseconds last_work = kAlways, first_work = kNever, last_message = kAlways;
  for (const Activity& activity : rank.activities) {
    if (!is_work(activity)) continue;
    first_work = std::min(first_work, activity.begin);
    Nanoseconds& last = is_communication(activity.activity_class) ? last_message : last_work;
    last = std::max(last, activity.end);
  }
  // A rank of a job that failed stands in its last operations until these fail, too: it waits for the one
  // that did. Where it did nothing but communicate, they are its work.
  if (!job.failed || last_work == kAlways) last_work = std::max(last_work, last_message);
  const StepWindow *first = nullptr, *last = nullptr;
  for (const StepWindow& step : windows.steps) {
    if (step.window.begin >= step.window.end) continue;
    if (first == nullptr) first = &step;
    last = &step;
    last_work = std::max(last_work, step.window.end);
    set(step.number < first_after_warm_up ? Spending::warm_up : Spending::steady)
        .append(step.window.begin, step.window.end);
  }
  const bool cut = is_cut(rank, wall.end);
  // One of a failed job that never came to its first work, and whose file ends long before the job did: its
  // process was gone then, or stood still.
  const Nanoseconds recorded_until = rank.ending.recorded_until;
  if (last_work == kAlways && job.has_steps && !rank.ending.closed && recorded_until != kUnknownTime &&
      recorded_until + kLastFlush < wall.end) {
    last_work = recorded_until;
    if (job.failed) first_work = recorded_until;  // what came then is no start
  }
  // Whose last moments are lost, and who was last at work within these, is not seen to have waited: a step
  // goes on unseen. Who stood in an operation is: it was noted.
  const Nanoseconds last_told = std::max(last_work, last_message);
  const bool end_is_lost = job.waited && !cut && job.lacks_last_moments && rank.ending.operations.empty() &&
                           rank.ending.hang_noted == kUnknownTime && last_told != kAlways &&
                           saturating_add(last_told, kLastFlush) >= wall.end;
  if (job.waited && !cut && last_work != kAlways)
    set(Spending::after_failure) = one(last_work, end_is_lost ? last_told : wall.end);
  // Where nothing was ever computed, the job never came further than its start; but what a cut file lacks may
  // have been computed.
  Nanoseconds started = first != nullptr ? first_computation(rank, *first) : first_work;
  if (cut && started == kNever) started = last_end(phases[Phase::start_up], wall.begin);
  set(Spending::start_up) = unite(phases[Phase::start_up], one(wall.begin, std::min(started, wall.end)));
  if (cut) {
    const Nanoseconds told = last != nullptr ? last->window.end
                             : job.has_steps ? started
                                             : read_time(rank).end;
    set(Spending::not_recorded) =
        unite(set(Spending::not_recorded), subtract(one(told, wall.end), told_by_ranges(phases)));
  } else if (end_is_lost) {
    set(Spending::not_recorded) =
        unite(set(Spending::not_recorded), subtract(one(last_told, wall.end), told_by_ranges(phases)));
  } else if (last != nullptr) {
    // Until somebody interrupted it, a job was in a step that did not end.
    const Nanoseconds begin =
        job.failed ? std::max(last->window.end, rank.ending.interrupted) : last->window.end;
    set(Spending::shutdown) = one(std::min(begin, wall.end), wall.end);
  }
  return sets;
}

namespace {

// What is saved beside training is counted until the rank hangs or waits for the job's end: one that saves in
// the background is stuck in that, too, and its range is open until the file ends.
std::int64_t saved_beside(const Phases& phases, std::span<const SpendingSegment> segments, Interval wall) {
  const auto hangs = std::ranges::find(segments, Spending::after_failure, &SpendingSegment::spending);
  const Nanoseconds end = hangs == segments.end() ? wall.end : hangs->begin;
  return phases[Phase::checkpoint_beside].measure_within(wall.begin, end);
}

}  // namespace

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
  JobFacts facts{failed(job), waited(job),
                 std::any_of(windows.begin(), windows.end(),
                             [](const RankWindows& rank) { return !rank.steps.empty(); })};
  Account whole;  // of ranks whose trace is whole
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    if (known[i].begin >= known[i].end) continue;
    const Nanoseconds begin = related ? all.begin : known[i].begin;
    const Interval wall{begin, begin + report.wall_ns};
    facts.lacks_last_moments = lacks_last_moments(job, job.ranks[i]);
    const auto segments =
        divide(spending_of(job.ranks[i], windows[i], phases[i], wall, first_after_warm_up, facts), wall);
    RankAccount account{job.ranks[i].rank, sum(segments), saved_beside(phases[i], segments, wall)};
    add(account.spent, report.spent);
    if (!is_cut(job.ranks[i], wall.end)) add(account.spent, whole);
    report.ranks.push_back(account);
  }
  // Of a cut trace the training lacks more than the start does.
  const Account& counted = whole.recorded() > 0 ? whole : report.spent;
  if (const std::int64_t recorded = counted.recorded(); steps_told && recorded > 0)
    report.goodput = static_cast<double>(counted[Spending::steady]) / static_cast<double>(recorded);
  return report;
}

}  // namespace lockstep::analyzer

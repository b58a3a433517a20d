#include "analyzer/diagnose/warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/named_alike.h"
#include "analyzer/model/stopped.h"
#include "analyzer/model/warns_of.h"
#include "analyzer/report/quantity.h"
#include "base/number_lists.h"

namespace lockstep::analyzer {
namespace {

// From this share of a rank's idle gaps, or of their time, on, causes 7 and 8 are not to be trusted.
constexpr double kWithoutLaunch = 0.1;

bool lacks_launches(const RankTimeline::Gaps& gaps) {
  return static_cast<double>(gaps.without_launch) > kWithoutLaunch * static_cast<double>(gaps.count) ||
         static_cast<double>(gaps.without_launch_ns) > kWithoutLaunch * static_cast<double>(gaps.ns);
}

class Warnings {
 public:
  explicit Warnings(std::vector<Warning>& warnings) : warnings_(warnings) {}
  void add(std::string code, std::int32_t rank, std::string message) {
    const bool said = std::any_of(warnings_.begin(), warnings_.end(), [&](const Warning& warning) {
      return warning.code == code && warning.rank == rank;
    });
    if (!said) warnings_.push_back({std::move(code), std::move(message), rank});
  }

 private:
  std::vector<Warning>& warnings_;
};

// Operations were issued, and nobody wrote down when they ran. A dump of messages alone may have no
// progress: that they are dumps tells it.
bool holds_order_alone(const Job& job) {
  return std::all_of(job.ranks.begin(), job.ranks.end(),
                     [](const RankTrace& rank) { return rank.activities.empty() && rank.steps.empty(); }) &&
         (job.dumps == Dumps::all ||
          std::any_of(job.ranks.begin(), job.ranks.end(),
                      [](const RankTrace& rank) { return !rank.ending.progress.empty(); }));
}

void warn_of_missing_ranks(const Job& job, Warnings& warnings) {
  if (job.ranks_missing.empty()) return;
  warnings.add("rank_missing", kNoRank,
               fmt::format("no trace of {} of {} ranks ({}): waits are computed over those present",
                           job.ranks_missing.size(), job.world_size, list_numbers(job.ranks_missing, 8)));
}

// "ranks 1, 2: 0 of 60; rank 3: 12 of 60": those with the fewest first.
std::string those_with_fewest(const std::map<std::size_t, std::vector<std::int32_t>>& by_steps,
                              std::size_t all) {
  constexpr std::size_t kMost = 3;
  std::string text;
  std::size_t said = 0;
  for (const auto& [steps, ranks] : by_steps) {
    if (said++ == kMost) return text + "; …";
    text += fmt::format("{}rank{} {}: {} of {}", text.empty() ? "" : "; ", ranks.size() == 1 ? "" : "s",
                        list_numbers(ranks, 8), steps, all);
  }
  return text;
}

// Ranks that lack steps which others have: by their marks, whatever else is known of them.
void warn_of_steps(const Job& job, Warnings& warnings) {
  const auto has_those_of_the_first = [&](const RankTrace& rank) {
    const std::vector<StepMark>& first = job.ranks.front().steps;
    return rank.steps.size() == first.size() &&
           (first.empty() || (rank.steps.front().number == first.front().number &&
                              rank.steps.back().number == first.back().number));
  };
  if (std::all_of(job.ranks.begin(), job.ranks.end(), has_those_of_the_first)) return;
  std::set<std::int64_t> all;
  for (const RankTrace& rank : job.ranks)
    for (const StepMark& step : rank.steps) all.insert(step.number);
  // A recording begins and ends within some step of each rank: one more or less is nothing.
  const std::size_t usual = all.size() < 10 ? 0 : 1;
  std::int64_t lacking = 0;
  std::map<std::size_t, std::vector<std::int32_t>> by_steps;
  for (const RankTrace& rank : job.ranks) {
    std::set<std::int64_t> own;
    for (const StepMark& step : rank.steps) own.insert(step.number);
    if (own.size() + usual >= all.size()) continue;
    ++lacking;
    by_steps[own.size()].push_back(rank.rank);
  }
  if (lacking == 0) return;
  warnings.add("steps_differ", kNoRank,
               fmt::format("{} {} steps that others have ({}): who is late is told of the steps "
                           "that all have, without ranks that lack more than a tenth of them",
                           format_plural(lacking, "rank"), lacking == 1 ? "lacks" : "lack",
                           those_with_fewest(by_steps, all.size())));
}

void warn_of_job(const Diagnosis& diagnosis, const Report& report, Warnings& warnings) {
  const Job& job = diagnosis.job;
  bool steps = false, communication = false;
  std::int64_t resolution = 1;
  for (const RankTrace& rank : job.ranks) {
    steps = steps || !rank.steps.empty();
    communication = communication || !rank.communications.empty();
    if (!rank.activities.empty()) resolution = std::max(resolution, rank.resolution_ns);
  }
  if (std::any_of(job.ranks.begin(), job.ranks.end(),
                  [](const RankTrace& rank) { return rank.device == "paced"; })) {
    warnings.add("paced_device", kNoRank,
                 "computed on the trainer's paced device: how long layers and transfers take is a model's "
                 "figure, not a measurement of this machine");
  }
  if (holds_order_alone(job)) {
    warnings.add("order_only", kNoRank,
                 "flight recorders tell which operations were issued and which had not ended, not how long "
                 "they took: there are no figures");
    return warn_of_missing_ranks(job, warnings);
  }
  if (tells_communication_alone(report)) {
    warnings.add(
        "communication_alone", kNoRank,
        "flight recorders tell of communication alone, and of its begin and end to about a tenth of a "
        "second: what ranks did beside it is not known, and nothing is said of what costs time");
  }
  if (!steps) warnings.add("no_steps", kNoRank, "no step marks: figures are over each rank's whole window");
  if (!communication) {
    warnings.add("no_communication", kNoRank,
                 "no communication was found: nothing to say about overlap and waiting");
  }
  // Where every operation is of a group that has this rank alone, there is nobody else.
  const bool is_alone = std::ranges::all_of(report.collectives, [](const CollectiveReport& collective) {
    return collective.group_ranks.size() == 1 && !collective.group_name.empty();
  });
  if (job.ranks.size() == 1 && communication && !is_alone) {
    warnings.add(
        "single_rank", kNoRank,
        fmt::format(
            "rank {} alone: who waits for whom shows only beside the other ranks' traces; how much of "
            "its communication is waiting is not known",
            job.ranks[0].rank));
  }
  warn_of_missing_ranks(job, warnings);
  if (!warns_of(report.warnings, kStepsApart)) warn_of_steps(job, warnings);
  if (resolution > 1) {
    warnings.add(
        "coarse_timestamps", kNoRank,
        fmt::format("times were recorded in steps of {}: no order of events closer than that is claimed",
                    format_duration(resolution)));
  }
}

// Times of which nothing is known on purpose, where they lie between what is known.
void warn_of_absences(const Diagnosis& diagnosis, const std::vector<RankWindows>& windows,
                      Warnings& warnings) {
  std::int64_t ranks = 0, longest = 0, empty = 0;
  for (std::size_t i = 0; i < diagnosis.job.ranks.size(); ++i) {
    const Interval whole = windows[i].whole;
    std::int64_t absent = 0;
    for (const TimeSpan& span : diagnosis.job.ranks[i].unrecorded) {
      if (span.begin > whole.begin && span.end < whole.end) absent += span.end - span.begin;
    }
    if (!windows[i].has_work && !diagnosis.job.ranks[i].unrecorded.empty()) ++empty;
    if (absent == 0 || !windows[i].has_work) continue;
    ++ranks;
    longest = std::max(longest, absent);
  }
  if (empty > 0) {
    warnings.add("nothing_recorded", kNoRank,
                 fmt::format("on {} nothing was recorded: what was asked for (--steps, --delay, --duration, "
                             "--sources) did not come to pass, or --max-size left no room",
                             format_plural(empty, "rank")));
  }
  if (ranks == 0) return;
  warnings.add(
      "not_recorded", kNoRank,
      fmt::format("on {} nothing was recorded for some time, on purpose (up to {}): that time is in no "
                  "figure",
                  format_plural(ranks, "rank"), format_duration(longest)));
}

// Operations of several ranks that lack the record of a rank which did leave a trace.
std::int64_t count_incomplete(const Diagnosis& diagnosis) {
  const Matching& matching = diagnosis.matching;
  std::set<std::int32_t> present;
  for (const RankTrace& rank : diagnosis.job.ranks) present.insert(rank.rank);
  return std::count_if(matching.matches.begin(), matching.matches.end(), [&](const Match& match) {
    if (!match.partial || match.evidence == Evidence::rejected || match.evidence == Evidence::none)
      return false;
    const std::vector<std::int32_t>& ranks = matching.groups[match.group].ranks;
    const auto there =
        std::count_if(ranks.begin(), ranks.end(), [&](std::int32_t rank) { return present.contains(rank); });
    return there > static_cast<std::ptrdiff_t>(match.record_count);
  });
}

void warn_of_matching(const Diagnosis& diagnosis, const Report& report, Warnings& warnings) {
  const Matching& matching = diagnosis.matching;
  if (const std::int64_t incomplete = count_incomplete(diagnosis); incomplete > 0) {
    warnings.add(
        "records_missing", kNoRank,
        fmt::format("{} of {} lack the record of a rank whose trace is there (lost, or never issued): "
                    "who waited there is told of the others alone",
                    incomplete,
                    format_plural(static_cast<std::int64_t>(matching.matches.size()), "operation")));
  }
  if (matching.impossible > 0) {
    warnings.add(
        "matches_impossible", kNoRank,
        fmt::format(
            "{} of {} matches contradict the clock (a rank ends before another one starts) and were "
            "taken apart: their records stand alone, as transfer",
            matching.impossible,
            matching.impossible + matching.distrusted +
                static_cast<std::int64_t>(std::count_if(matching.matches.begin(), matching.matches.end(),
                                                        [](const Match& m) { return m.record_count > 1; }))));
  }
  if (matching.distrusted > 0) {
    warnings.add(
        "matches_distrusted", kNoRank,
        fmt::format("{} more of the same groups, matched by order alone, were taken apart with them: where "
                    "most of an order is impossible, the rest proves nothing. These traces are not of the "
                    "same steps, or operations are missing",
                    format_count(matching.distrusted)));
  }
  if (matching.unmatched > 0) {
    // Of a rank of which no waits are known there is no transfer either: it is all communication.
    const bool any_known = std::any_of(report.ranks.begin(), report.ranks.end(),
                                       [](const RankReport& rank) { return rank.measures.waits_known; });
    warnings.add(
        "records_unmatched", kNoRank,
        fmt::format("{} without a counterpart: how much of their time was waiting is not known{}",
                    format_plural(matching.unmatched, "communication record"),
                    any_known ? "; on ranks whose other waits are known all of it counts as transfer" : ""));
  }
  std::int64_t roots = 0;
  for (std::size_t match = 0; match < matching.matches.size(); ++match) {
    if (diagnosis.waits[match].root_unknown && matching.matches[match].record_count > 1) ++roots;
  }
  if (roots > 0) {
    warnings.add("root_unknown", kNoRank,
                 fmt::format("{} of unknown root: computed as if every rank waited for every other",
                             format_plural(roots, "rooted collective")));
  }
}

// What is in no class: named as communication and of no library known; or of unknown content, as a graph that
// was traced as a whole.
void warn_of_unclassified(const RankTrace& rank, const StringTable& strings, const RankReport& report,
                          Warnings& warnings) {
  const auto unclassified =
      std::count_if(rank.activities.begin(), rank.activities.end(),
                    [](const Activity& a) { return a.activity_class == Class::unclassified; });
  if (unclassified == 0) return;
  const std::vector<NamedAlike> names = named_alike(rank, strings);
  std::int64_t alike = 0;
  for (const NamedAlike& name : names) alike += name.count;
  const auto activities = [](std::int64_t count) {
    return count == 1 ? std::string("1 device activity") : fmt::format("{} device activities", count);
  };
  const std::string unknown =
      alike == unclassified
          ? ""
          : fmt::format("{}{} of unknown content", alike > 0 ? "; " : "", activities(unclassified - alike));
  const std::string looking =
      alike == 0 ? ""
                 : fmt::format("{} look like communication by name ({}), but are of no library known",
                               activities(alike), functions_of(names, strings));
  warnings.add("unclassified", rank.rank,
               fmt::format("rank {}: {}{}: {} in no class, counted as other where nothing else ran",
                           rank.rank, looking, unknown, format_duration(report.measures.unclassified_ns)));
}

void warn_of_rank(const RankTrace& rank, const StringTable& strings, const RankWindows& windows,
                  const RankTimeline::Gaps& gaps, const RankReport& report, bool of_dumps,
                  Warnings& warnings) {
  if (!windows.has_work) {
    // A flight recorder's: it tells of no activity.
    if (of_dumps || !rank.ending.progress.empty()) return;
    warnings.add("no_device_activity", rank.rank, fmt::format("rank {}: no device activity", rank.rank));
    return;
  }
  warn_of_unclassified(rank, strings, report, warnings);
  if (!of_dumps && lacks_launches(gaps)) {
    warnings.add(
        "launches_missing", rank.rank,
        fmt::format("rank {}: {} of {} idle gaps end at work whose launch was not recorded ({} of {}): "
                    "host-bound and queued are not to be trusted there",
                    rank.rank, gaps.without_launch, gaps.count, format_duration(gaps.without_launch_ns),
                    format_duration(gaps.ns)));
  }
  const auto from_host = std::count_if(windows.steps.begin(), windows.steps.end(),
                                       [](const StepWindow& step) { return step.from_host; });
  if (from_host > 0) {
    warnings.add(
        "steps_from_host", rank.rank,
        fmt::format(
            "rank {}: in {} of {} steps no launch is known; the step's time on the host stands for it",
            rank.rank, from_host, windows.steps.size()));
  }
}

}  // namespace

void add_warnings(const Diagnosis& diagnosis, const std::vector<RankWindows>& windows, Report& report,
                  const std::stop_token& stop) {
  Warnings warnings(report.warnings);
  warn_of_job(diagnosis, report, warnings);
  warn_of_matching(diagnosis, report, warnings);
  warn_of_absences(diagnosis, windows, warnings);
  for (std::size_t rank = 0; rank < diagnosis.job.ranks.size(); ++rank) {
    throw_if_stopped(stop);
    warn_of_rank(diagnosis.job.ranks[rank], diagnosis.job.strings, windows[rank], diagnosis.gaps[rank],
                 report.ranks[rank], tells_communication_alone(report), warnings);
  }
}

}  // namespace lockstep::analyzer

#include "analyzer/diff/diff_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "analyzer/report/palette.h"
#include "analyzer/report/quantity.h"
#include "base/counts.h"
#include "base/number_lists.h"

namespace lockstep::analyzer {
namespace {

// What moves a step by less than this share of it is not worth a word.
constexpr double kWorthAWord = 0.01;
// A change of so much of a step is one that people look for.
constexpr double kCouldHide = 0.05;

// Causes that changed beyond chance and by an amount that matters, the greatest first.
std::vector<const CauseDiff*> moved_causes(const RunsDiff& diff) {
  std::vector<const CauseDiff*> moved;
  for (const CauseDiff& cause : diff.causes) {
    const double change = std::abs(static_cast<double>(cause.time.change_ns()));
    if (cause.spread.is_beyond_chance(diff.causes.size()) &&
        change >= kWorthAWord * static_cast<double>(diff.step.a_ns))
      moved.push_back(&cause);
  }
  std::stable_sort(moved.begin(), moved.end(), [](const CauseDiff* x, const CauseDiff* y) {
    return std::abs(x->time.change_ns()) > std::abs(y->time.change_ns());
  });
  return moved;
}

std::string change_of(const RunsDiff& diff, const CauseDiff& cause) {
  return fmt::format("{} {}", label_of(diff, cause.cause), format_change(cause.time.change_ns()));
}

std::string about_ranks(const RunsDiff& diff) {
  const bool one = diff.changed_ranks.size() == 1;
  std::int64_t change = 0;
  for (const RankDiff& rank : diff.ranks)
    if (std::ranges::binary_search(diff.changed_ranks, rank.rank))
      change += diff.their_cause ? rank.causes[static_cast<std::size_t>(*diff.their_cause)].change_ns()
                                 : rank.own.change_ns();
  change /= static_cast<std::int64_t>(diff.changed_ranks.size());
  const bool all_others = diff.ranks.size() - diff.changed_ranks.size() > 1;
  // One run a side may differ by where it ran.
  const bool sure = diff.spread.of == SpreadOf::runs;
  const char* const verb =
      sure ? (one ? "is the difference" : "are the difference") : (one ? "differs most" : "differ most");
  return fmt::format("{} {} {}: {} {}{}, and the other{} {} {}", one ? "Rank" : "Ranks",
                     number_ranges(diff.changed_ranks), verb,
                     diff.their_cause ? label_of(diff, *diff.their_cause) : "own work", format_change(change),
                     one ? "" : " each", all_others ? "s" : "",
                     change > 0 ? (all_others ? "wait" : "waits") : (all_others ? "wait less" : "waits less"),
                     one ? "for it" : "for them");
}

std::string steps_text(const RunsDiff& diff) {
  const std::string relative = format_relative_change(diff.step.a_ns, diff.step.b_ns);
  return fmt::format("B's steps take {}, A's {}: {}{}", format_duration(diff.step.b_ns),
                     format_duration(diff.step.a_ns), format_change(diff.step.change_ns()),
                     relative.empty() ? relative : fmt::format(" ({})", relative));
}

}  // namespace

const char* label_of(const RunsDiff& diff, Cause cause) {
  return cause == Cause::transfer && !diff.waits_known ? "communication" : style_of(cause).label;
}

namespace {

std::string about_steps(const RunsDiff& diff) {
  const std::string steps = steps_text(diff);
  const std::vector<const CauseDiff*> moved = moved_causes(diff);
  if (diff.spread.is_beyond_chance()) {
    if (!diff.changed_ranks.empty()) return fmt::format("{}. {}.", steps, about_ranks(diff));
    // What moved with the step explains it; what moved against it makes up for a part.
    const bool longer = diff.step.change_ns() > 0;
    const auto explains = [&](const CauseDiff* cause) { return (cause->time.change_ns() > 0) == longer; };
    if (const auto found = std::ranges::find_if(moved, explains); found != moved.end())
      return fmt::format("{}, above all {}.", steps, change_of(diff, **found));
    // No cause is beyond chance by itself.
    const auto most = std::ranges::max_element(diff.causes, {}, [&](const CauseDiff& cause) {
      return longer ? cause.time.change_ns() : -cause.time.change_ns();
    });
    return fmt::format("{}, mostly {}.", steps, change_of(diff, *most));
  }
  if (diff.spread.of == SpreadOf::unknown) return steps + ". Too few steps to tell whether that is chance.";
  // A difference that would matter may hide behind so much of chance.
  const double half = diff.spread.half_width_ns().value_or(0);
  const bool could_hide = half > kCouldHide * static_cast<double>(diff.step.a_ns);
  std::string text = fmt::format("{}. {}, within what {} by anyway (± {})",
                                 could_hide ? "These runs do not tell" : "No difference shows", steps,
                                 diff.spread.of == SpreadOf::runs ? "runs differ" : "steps vary",
                                 format_duration(std::llround(half)));
  if (!moved.empty())
    text +=
        fmt::format(". Beyond chance {}: {}{}", moved.size() > 1 ? "are parts of it" : "is a part of it",
                    change_of(diff, *moved[0]), moved.size() > 1 ? ", " + change_of(diff, *moved[1]) : "");
  return text + ".";
}

// What is not of the steps and cost much of one run alone.
std::string beside_steps(const RunsDiff& diff) {
  constexpr double kMuch = 0.05;                      // of the wall time
  for (const PhaseDiff& phase : diff.phases.parts) {  // the greatest change first
    const bool is_told = phase.phase == Spending::checkpoint || phase.phase == Spending::evaluation ||
                         phase.phase == Spending::compilation || phase.phase == Spending::after_failure;
    if (is_told && std::abs(static_cast<double>(phase.time.change_ns())) >=
                       kMuch * static_cast<double>(diff.phases.whole.a_ns))
      return fmt::format(" Beside the steps: {} {} of the run.", title_of(phase.phase),
                         format_change(phase.time.change_ns()));
  }
  return {};
}

}  // namespace

std::string headline(const RunsDiff& diff) {
  for (const auto& [name, side] : {std::pair{"A", &diff.a}, std::pair{"B", &diff.b}})
    if (!side->failures.empty())
      return fmt::format("{} is no whole run ({}). Of what there is: {}{}", name, side->failures.front(),
                         about_steps(diff), beside_steps(diff));
  return about_steps(diff) + beside_steps(diff);
}

std::string certainty(const RunsDiff& diff) {
  const std::string how = "lockstep diff A1 A2 A3 --to B1 B2 B3";
  switch (diff.spread.of) {
    case SpreadOf::runs:
      return fmt::format(
          "Of {} against {}; ± is what chance explains, at 95 %: by how much the runs of a side differ.",
          format_plural(diff.a.paths.size(), "run"), format_count(diff.b.paths.size()));
    case SpreadOf::steps:
      return fmt::format(
          "One run a side; ± is what its own steps vary by, at 95 %. By how much two runs differ anyway is "
          "not known: three of each would tell ({}).",
          how);
    case SpreadOf::unknown:
      break;
  }
  return fmt::format(
      "Six steady steps of each run would tell what steps vary by, three runs a side what "
      "runs differ by ({}).",
      how);
}

std::string name_of(const CollectiveKey& key) {
  const char* const operation = trace::to_string(key.operation);
  return key.name.empty() ? fmt::format("{} {}", format_ordinal(key.position + 1), operation)
                          : fmt::format("{} \"{}\"", operation, key.name);
}

std::string name_of(const LayerKey& key) {
  return fmt::format("{}, {}", key.layer ? fmt::format("layer {}", *key.layer) : key.part,
                     name_of_pass(key.pass));
}

const char* to_string(Presence presence) {
  switch (presence) {
    case Presence::only_a:
      return "only_a";
    case Presence::only_b:
      return "only_b";
    case Presence::both:
      break;
  }
  return "both";
}

}  // namespace lockstep::analyzer

#include "analyzer/diagnose/late_words.h"

#include <fmt/format.h>

#include <cstdlib>

#include "analyzer/diagnose/blame.h"
#include "analyzer/report/quantity.h"
#include "base/time_math.h"

namespace lockstep::analyzer {

// Waiting in several operations at once is lost once.
std::string describe_waiting(const Report& report, const BlameReport& blame,
                             const ScheduledWaits& scheduled) {
  const std::string waited = format_duration(blame.blame_ns);
  const std::int64_t lost = blame.exposed_ns;
  if (lost == blame.blame_ns)
    return fmt::format("the others waited {} for it, and compute hid none of it", waited);
  // To a reader two figures so close are one.
  if (waited == format_duration(lost) || std::abs(blame.blame_ns - lost) < blame.blame_ns / 100)
    return fmt::format("the others waited {} for it, and compute hid next to nothing of it", waited);
  std::int64_t each_for_itself = 0;
  for (const CollectiveReport& collective : report.collectives) {
    if (collective.last_arriver == blame.rank && !scheduled.contains(collective))
      each_for_itself = saturating_add(each_for_itself, exposed_in(collective));
  }
  if (each_for_itself == lost)
    return fmt::format("the others waited {} for it, {} of that with nothing to compute meanwhile", waited,
                       format_duration(lost));
  return fmt::format(
      "the others waited {} for it, operation by operation; often in several at once, or while they computed "
      "or moved data: {} of their time went by with nothing else to do",
      waited, format_duration(lost));
}

std::string describe_loss(std::int64_t lost_ns, std::int64_t of_the_others_ns, std::int64_t own_ns) {
  return fmt::format(
      "the {} lost are {} for which the others wait for it, and {} of its own time, which it would save as "
      "well",
      format_duration(lost_ns), format_duration(of_the_others_ns), format_duration(own_ns));
}

std::string describe_held_roots(std::int64_t held_ns) {
  return fmt::format(
      "besides, roots of broadcasts or scatters stood in these for {} until it, their last receiver, had come: that "
      "counts as transfer, and not as lost here",
      format_duration(held_ns));
}

std::string describe_lateness(const LatenessReport& lateness, const RankLateness& late) {
  return fmt::format(
      "over {} steps it is ready {} later than the median of the others, {} of a step; from block to block "
      "of steps that moves by {}; healthy ranks show as much in fewer than 1 of 200 runs",
      lateness.steps, format_duration(late.mean_ns), format_share(late.share),
      format_duration(late.movement_ns));
}

std::string describe_time(const LatenessReport& lateness, const RankLateness& late) {
  return fmt::format(
      "over {} steps {} than {}median of the others, {} of a step; from "
      "block to block of steps that moves by {}; healthy ranks show as much in fewer than 1 of 500 runs. By how "
      "much that makes it late is less certain, since other things vary from step to step too",
      lateness.steps,
      late.is_of_running
          ? fmt::format("its training threads run {} a step longer", format_duration(late.mean_ns))
          : fmt::format("it spends {} a step more by this cause", format_duration(late.mean_ns)),
      late.is_of_running ? "those of the " : "the ", format_share(late.share),
      format_duration(late.movement_ns));
}

}  // namespace lockstep::analyzer

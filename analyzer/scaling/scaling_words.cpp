#include "analyzer/scaling/scaling_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/report/palette.h"
#include "analyzer/report/quantity.h"
#include "analyzer/scaling/scaling_outputs.h"
#include "base/counts.h"
#include "base/words.h"

namespace lockstep::analyzer {

std::string format_percent(double ratio) {
  return fmt::format("{:.1f} %", ratio * 100);
}

namespace {

// An interval as wide as the ideal itself says nothing.
bool is_too_wide(const Estimate& estimate) {
  return estimate.low && estimate.high && *estimate.high - *estimate.low > 1;
}

}  // namespace

std::string interval_text(const Estimate& estimate) {
  if (!estimate.low || !estimate.high || is_too_wide(estimate)) return {};
  return fmt::format("{:.1f} to {:.1f} %", *estimate.low * 100, *estimate.high * 100);
}

const char* label_of(const Scaling& scaling, Cause cause) {
  return cause == Cause::transfer && !scaling.waits_known ? "communication" : style_of(cause).label;
}

std::vector<Cause> causes_that_changed(const Scaling& scaling) {
  std::vector<Cause> causes;
  for (std::size_t cause = 0; cause < kCauseCount; ++cause)
    if (std::ranges::any_of(scaling.points,
                            [&](const ScalePoint& point) { return point.loss_ns[cause] != 0; }))
      causes.push_back(static_cast<Cause>(cause));
  const ScalePoint& largest = scaling.points.back();
  std::stable_sort(causes.begin(), causes.end(), [&](Cause x, Cause y) {
    return largest.loss_ns[static_cast<std::size_t>(x)] > largest.loss_ns[static_cast<std::size_t>(y)];
  });
  return causes;
}

std::string headline(const Scaling& scaling) {
  const ScalePoint &smallest = scaling.points.front(), &largest = scaling.points.back();
  const std::string interval = interval_text(largest.efficiency);
  std::string text = fmt::format("On {} a step takes {}, on {} {}: scaling efficiency {}{}",
                                 format_plural(largest.ranks, "rank"), format_duration(largest.step_ns),
                                 format_plural(smallest.ranks, "rank"), format_duration(smallest.step_ns),
                                 format_percent(largest.efficiency.value),
                                 interval.empty() ? interval : fmt::format(" ({})", interval));
  // Of a hundredth and less nobody needs a cause.
  const std::vector<Cause> causes = causes_that_changed(scaling);
  if (largest.total_loss_ns() * 100 > largest.step_ns && !causes.empty())
    text += fmt::format(", lost above all to {} ({})", label_of(scaling, causes.front()),
                        format_change(largest.loss_ns[static_cast<std::size_t>(causes.front())]));
  return text + ".";
}

std::string kind_text(const Scaling& scaling) {
  const bool weak = scaling.kind == ScalingKind::weak;
  std::string text =
      weak ? "Weak scaling: each rank's work stays the same, and the ideal step takes as long"
           : "Strong scaling: the job's work stays the same, and the ideal step is shared among the ranks";
  if (scaling.kind_is_guessed)
    text += fmt::format(" (told from how much a rank computes; if it is not so, give --{})",
                        weak ? "strong" : "weak");
  return text + ".";
}

std::vector<std::string> remarks(const Scaling& scaling) {
  std::vector<std::string> all;
  if (!scaling.differences.empty())
    all.push_back(fmt::format("The runs differ in more than their number of ranks: {}.",
                              join_words(scaling.differences, ", ")));
  // The largest that does is the worst.
  for (auto point = scaling.points.rbegin(); point != scaling.points.rend(); ++point)
    if (!point->shared.empty()) {
      all.push_back(fmt::format("Of {}, {}: part of what is lost there is the host's, not the job's scaling.",
                                format_plural(point->ranks, "rank"), point->shared));
      break;
    }
  for (const ScalePoint& point : scaling.points)
    if (is_too_wide(point.efficiency)) {
      all.push_back(fmt::format("Of {} the runs are too few, or differ too much, for an interval.",
                                format_plural(point.ranks, "rank")));
      break;
    }
  if (std::ranges::any_of(scaling.points, [](const ScalePoint& point) { return point.paths.size() < 2; }))
    all.emplace_back(
        std::ranges::all_of(scaling.points, [](const ScalePoint& point) { return point.paths.size() < 2; })
            ? "One run a size: by how much runs differ anyway is not known. Three of each would tell."
            : "Of a size with one run it is taken that its runs differ as the others' do.");
  return all;
}

std::string message_text(const MessageLaw& law) {
  return fmt::format("{} of {}: {} + bytes / {} (from {} sizes, {} to {}; off by {:.0f} % at most)",
                     trace::to_string(law.operation), format_plural(law.ranks, "rank"),
                     format_duration(std::llround(law.alpha_ns)), format_bandwidth(1 / law.beta_ns_per_byte),
                     law.sizes, format_bytes(law.smallest_bytes), format_bytes(law.largest_bytes),
                     law.worst_error * 100);
}

std::string speedup_text(const Scaling& scaling) {
  if (!scaling.law) return {};
  const SpeedupLaw& law = *scaling.law;
  const std::int32_t base = scaling.points.front().ranks;
  std::string text = fmt::format(
      "Universal scalability law: contention {:.3g} %, coherency {:.3g} % (off by {:.0f} % at most)",
      law.contention * 100, law.coherency * 100, law.worst_error * 100);
  if (const auto peak = law.peak())
    text += fmt::format("; from about {} ranks on more would make it slower",
                        format_count(std::llround(*peak * base)));
  return text + ".";
}

}  // namespace lockstep::analyzer

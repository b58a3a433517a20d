#include "analyzer/metrics/pipeline_message_regions.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "analyzer/metrics/pipeline_regions.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

// The computations of a step that begin in [begin, end), in order of begin.
class Computations {
 public:
  Computations(const RankTrace& rank, std::optional<std::int64_t> step) : rank_(rank), step_(step) {}

  std::vector<Interval> within(Nanoseconds begin, Nanoseconds end) const {
    const auto from =
        std::lower_bound(rank_.activities.begin(), rank_.activities.end(), begin,
                         [](const Activity& activity, Nanoseconds time) { return activity.begin < time; });
    std::vector<Interval> found;
    for (auto activity = from; activity != rank_.activities.end() && activity->begin < end; ++activity) {
      if (activity->activity_class == Class::compute && step_number(rank_, *activity) == step_)
        found.push_back({activity->begin, activity->end});
    }
    return found;
  }

 private:
  const RankTrace& rank_;
  std::optional<std::int64_t> step_;
};

std::int64_t length_of(std::vector<Interval> computations) {
  return IntervalSet::from(std::move(computations)).measure();
}

// How many of the computations make up one pass, counted from the front.
template <class Iterator>
std::size_t count_of_one_pass(Iterator first, Iterator last, std::int64_t pass_ns) {
  std::int64_t sum = 0;
  std::size_t count = 0;
  for (Iterator at = first; at != last; ++at, ++count) {
    sum = saturating_add(sum, at->end - at->begin);
    if (pass_ns > 0 && count > 0 && sum > pass_ns + pass_ns / 4) break;
  }
  return count;
}

}  // namespace

Interval passes_around_messages(const RankTrace& rank, std::vector<std::uint32_t> messages,
                                std::optional<std::int64_t> step) {
  std::sort(messages.begin(), messages.end());  // communications stand in order of begin
  const auto activity_of = [&rank](std::size_t communication) -> const Activity& {
    return rank.activities[rank.communications[communication].activity];
  };
  const std::size_t first = messages.front(), last = messages.back();
  Interval around{activity_of(first).begin, activity_of(last).end};
  // Other communication bounds the passes: parameters gathered before, gradients reduced behind.
  const Nanoseconds earliest = first > 0 ? activity_of(first - 1).end : kUnknownTime;
  const Nanoseconds latest = last + 1 < rank.communications.size() ? activity_of(last + 1).begin : kNever;
  const Computations computations(rank, step);
  const bool several = messages.size() > 1;
  if (rank.communications[first].operation != Operation::recv) {
    const std::int64_t pass_ns =
        several ? length_of(computations.within(around.begin, activity_of(messages[1]).begin)) : 0;
    const std::vector<Interval> before = computations.within(earliest, around.begin);
    const std::size_t count = count_of_one_pass(before.rbegin(), before.rend(), pass_ns);
    if (count > 0) around.begin = before[before.size() - count].begin;
  }
  if (rank.communications[last].operation != Operation::send) {
    const Nanoseconds from = activity_of(last).begin;
    const std::int64_t pass_ns =
        several ? length_of(computations.within(activity_of(messages[messages.size() - 2]).begin, from)) : 0;
    const std::vector<Interval> behind = computations.within(from, latest);
    const std::size_t count = count_of_one_pass(behind.begin(), behind.end(), pass_ns);
    for (std::size_t i = 0; i < count; ++i) around.end = std::max(around.end, behind[i].end);
  }
  return around;
}

}  // namespace lockstep::analyzer

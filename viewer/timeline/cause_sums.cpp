#include "viewer/timeline/cause_sums.h"

#include <algorithm>

namespace lockstep::viewer {

using analyzer::CauseSegment;

CauseSums::CauseSums(const std::vector<CauseSegment>& segments) {
  CauseTimes sums{};
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (i % kStride == 0) sums_.push_back(sums);
    sums[static_cast<std::size_t>(segments[i].cause)] += distance(segments[i].begin, segments[i].end);
  }
  if (segments.size() % kStride == 0) sums_.push_back(sums);
}

CauseTimes CauseSums::before(const std::vector<CauseSegment>& segments, std::size_t i) const {
  CauseTimes sums = sums_[i / kStride];
  for (std::size_t at = i / kStride * kStride; at < i; ++at) {
    sums[static_cast<std::size_t>(segments[at].cause)] += distance(segments[at].begin, segments[at].end);
  }
  return sums;
}

CauseTimes CauseSums::within(const std::vector<CauseSegment>& segments, Nanoseconds begin,
                             Nanoseconds end) const {
  CauseTimes times{};
  if (sums_.empty() || begin >= end) return times;
  const auto from = std::partition_point(segments.begin(), segments.end(),
                                         [&](const CauseSegment& segment) { return segment.end <= begin; });
  const auto until = std::partition_point(from, segments.end(),
                                          [&](const CauseSegment& segment) { return segment.begin < end; });
  if (from == until) return times;
  const CauseTimes low = before(segments, static_cast<std::size_t>(from - segments.begin()));
  const CauseTimes high = before(segments, static_cast<std::size_t>(until - segments.begin()));
  for (std::size_t cause = 0; cause < times.size(); ++cause) times[cause] = high[cause] - low[cause];
  // The parts of the first and the last segment that stick out.
  if (from->begin < begin) times[static_cast<std::size_t>(from->cause)] -= distance(from->begin, begin);
  const CauseSegment& last = *(until - 1);
  if (last.end > end) times[static_cast<std::size_t>(last.cause)] -= distance(end, last.end);
  return times;
}

}  // namespace lockstep::viewer

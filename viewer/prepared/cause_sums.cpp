#include "viewer/prepared/cause_sums.h"

#include <algorithm>

namespace lockstep::viewer {

using analyzer::CauseSegment;

namespace {

constexpr std::size_t kStride = 16;

}  // namespace

std::vector<CauseTimes> cause_sums_of(std::span<const CauseSegment> segments) {
  std::vector<CauseTimes> all;
  all.reserve(segments.size() / kStride + 1);
  CauseTimes sums{};
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (i % kStride == 0) all.push_back(sums);
    sums[static_cast<std::size_t>(segments[i].cause)] += distance(segments[i].begin, segments[i].end);
  }
  if (segments.size() % kStride == 0) all.push_back(sums);
  return all;
}

CauseTimes CauseSums::before(std::size_t i) const {
  CauseTimes sums = sums_[i / kStride];
  for (std::size_t at = i / kStride * kStride; at < i; ++at) {
    sums[static_cast<std::size_t>(segments_[at].cause)] += distance(segments_[at].begin, segments_[at].end);
  }
  return sums;
}

CauseTimes CauseSums::within(Nanoseconds begin, Nanoseconds end) const {
  CauseTimes times{};
  if (segments_.empty() || sums_.empty() || begin >= end) return times;
  const auto from = std::partition_point(segments_.begin(), segments_.end(),
                                         [&](const CauseSegment& segment) { return segment.end <= begin; });
  const auto until = std::partition_point(from, segments_.end(),
                                          [&](const CauseSegment& segment) { return segment.begin < end; });
  if (from == until) return times;
  const CauseTimes low = before(static_cast<std::size_t>(from - segments_.begin()));
  const CauseTimes high = before(static_cast<std::size_t>(until - segments_.begin()));
  for (std::size_t cause = 0; cause < times.size(); ++cause) times[cause] = high[cause] - low[cause];
  // The parts of the first and the last segment that stick out.
  if (from->begin < begin) times[static_cast<std::size_t>(from->cause)] -= distance(from->begin, begin);
  const CauseSegment& last = *(until - 1);
  if (last.end > end) times[static_cast<std::size_t>(last.cause)] -= distance(end, last.end);
  return times;
}

}  // namespace lockstep::viewer

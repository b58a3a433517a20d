#include "viewer/prepared/cause_sums.h"

#include <algorithm>

#include "viewer/prepared/gallop.h"

namespace lockstep::viewer {

using analyzer::CauseSegment;

namespace {

constexpr std::size_t kStride = 16;

}  // namespace

CauseBlocks cause_blocks_of(std::span<const CauseSegment> segments) {
  CauseBlocks blocks;
  const std::size_t count = (segments.size() + kStride - 1) / kStride;
  blocks.begin.reserve(count);
  blocks.before.reserve(count);
  CauseTimes sums{};
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (i % kStride == 0) {
      blocks.begin.push_back(segments[i].begin);
      blocks.before.push_back(sums);
    }
    sums[static_cast<std::size_t>(segments[i].cause)] += distance(segments[i].begin, segments[i].end);
  }
  return blocks;
}

CauseTimes CauseSums::within(Nanoseconds begin, Nanoseconds end) const {
  return CauseColumns(*this, begin).up_to(end);
}

void CauseSums::add_bytes(Nanoseconds begin, Nanoseconds end,
                          std::vector<std::span<const std::byte>>& bytes) const {
  const std::size_t count = std::min(begin_.size(), before_.size());
  const auto first =
      std::upper_bound(begin_.begin(), begin_.begin() + static_cast<std::ptrdiff_t>(count), begin);
  const auto last = std::upper_bound(first, begin_.begin() + static_cast<std::ptrdiff_t>(count), end);
  const auto from = static_cast<std::size_t>(std::max<std::ptrdiff_t>(first - begin_.begin() - 1, 0));
  const auto until = static_cast<std::size_t>(last - begin_.begin());
  if (from >= until) return;
  bytes.push_back(std::as_bytes(begin_.subspan(from, until - from)));
  bytes.push_back(std::as_bytes(before_.subspan(from, until - from)));
  const std::size_t last_segment = std::min(until * kStride, segments_.size());
  if (from * kStride < last_segment)
    bytes.push_back(std::as_bytes(segments_.subspan(from * kStride, last_segment - from * kStride)));
}

CauseColumns::CauseColumns(const CauseSums& sums, Nanoseconds begin)
    : sums_(sums), at_(begin), before_at_(before(begin)) {}

CauseTimes CauseColumns::up_to(Nanoseconds end) {
  CauseTimes times{};
  if (end <= at_) return times;
  const CauseTimes before_end = before(end);
  for (std::size_t cause = 0; cause < times.size(); ++cause)
    times[cause] = before_end[cause] - before_at_[cause];
  at_ = end;
  before_at_ = before_end;
  return times;
}

CauseTimes CauseColumns::before(Nanoseconds time) {
  const std::size_t count = std::min(sums_.begin_.size(), sums_.before_.size());
  const std::size_t next =
      gallop(block_, count, stride_, [&](std::size_t block) { return sums_.begin_[block] <= time; });
  if (next == 0) return {};
  stride_ = next - block_;
  block_ = next - 1;
  CauseTimes sums = sums_.before_[block_];
  const std::size_t end = std::min(next * kStride, sums_.segments_.size());
  for (std::size_t i = block_ * kStride; i < end && sums_.segments_[i].begin < time; ++i) {
    const CauseSegment& segment = sums_.segments_[i];
    sums[static_cast<std::size_t>(segment.cause)] += distance(segment.begin, std::min(segment.end, time));
  }
  return sums;
}

}  // namespace lockstep::viewer

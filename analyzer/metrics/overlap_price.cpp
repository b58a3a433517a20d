#include "analyzer/metrics/overlap_price.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/intervals/median.h"
#include "analyzer/model/is_communication.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

struct Kind {
  std::uint32_t name = 0, shape = 0;
  std::int32_t layer = -1;
  Pass pass = Pass::other;
  friend bool operator==(const Kind&, const Kind&) = default;
};

struct HashOfKind {
  std::size_t operator()(const Kind& kind) const {
    const std::uint64_t size = std::uint64_t{kind.name} << 32U | kind.shape;
    const std::uint64_t part =
        static_cast<std::uint64_t>(kind.layer + 1) << 8U | static_cast<std::uint64_t>(kind.pass);
    return static_cast<std::size_t>((size ^ part * 0x9E3779B97F4A7C15U) * 0xBF58476D1CE4E5B9U >> 16U);
  }
};

enum class Covered : std::uint8_t { not_at_all, in_part, wholly };

// Nothing where one name may stand for different sizes.
std::optional<Kind> kind_of(const RankTrace& rank, const Activity& activity) {
  Kind kind{activity.name, activity.shape, -1, Pass::other};
  if (activity.compute != kNone) {
    kind.layer = rank.computations[activity.compute].layer;
    kind.pass = rank.computations[activity.compute].pass;
  }
  if (kind.shape == 0 && kind.layer < 0) return std::nullopt;
  return kind;
}

IntervalSet communication_of(const RankTrace& rank) {
  IntervalSet communication;
  for (const Activity& activity : rank.activities) {
    if (is_communication(activity.activity_class)) communication.append(activity.begin, activity.end);
  }
  return communication;
}

// How far communication covers activities; these are asked about in the order in which they begin.
class Cover {
 public:
  explicit Cover(const IntervalSet& communication) : intervals_(communication.intervals()) {}

  Covered of(const Activity& activity) {
    while (next_ < intervals_.size() && intervals_[next_].end <= activity.begin) ++next_;
    if (next_ == intervals_.size() || intervals_[next_].begin >= activity.end) return Covered::not_at_all;
    const Interval& interval = intervals_[next_];
    return interval.begin <= activity.begin && activity.end <= interval.end ? Covered::wholly
                                                                            : Covered::in_part;
  }

 private:
  const std::vector<Interval>& intervals_;
  std::size_t next_ = 0;
};

struct TimesOfKind {
  std::vector<std::int64_t> alone;
  std::int64_t under_ns = 0, under = 0;
};

}  // namespace

std::optional<OverlapPrice> price_overlap(const RankTrace& rank, std::span<const Interval> windows) {
  const IntervalSet communication = communication_of(rank);
  if (communication.empty()) return std::nullopt;
  Cover cover(communication);
  std::unordered_map<Kind, TimesOfKind, HashOfKind> kinds;
  std::size_t window = 0;
  for (const Activity& activity : rank.activities) {
    while (window < windows.size() && windows[window].end <= activity.begin) ++window;
    if (window == windows.size()) break;
    if (activity.activity_class != Class::compute || activity.begin >= activity.end ||
        activity.begin < windows[window].begin)
      continue;
    const std::optional<Kind> kind = kind_of(rank, activity);
    if (!kind) continue;
    const Covered covered = cover.of(activity);
    if (covered == Covered::in_part) continue;
    const std::int64_t length = activity.end - activity.begin;
    TimesOfKind& times = kinds[*kind];
    if (covered == Covered::not_at_all) {
      times.alone.push_back(length);
    } else {
      ++times.under;
      times.under_ns = saturating_add(times.under_ns, length);
    }
  }
  OverlapPrice price;
  for (auto& [kind, times] : kinds) {
    if (times.under == 0 || times.alone.size() < kLeastAlone) continue;
    price.activities += times.under;
    price.under_ns = saturating_add(price.under_ns, times.under_ns);
    price.alone_ns = saturating_add(price.alone_ns, times.under * lower_median(std::move(times.alone)));
  }
  if (price.activities < kLeastUnder || price.alone_ns == 0) return std::nullopt;
  return price;
}

}  // namespace lockstep::analyzer

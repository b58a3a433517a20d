#include "analyzer/align/offset_fit.h"

#include <algorithm>
#include <limits>

namespace lockstep::analyzer {
namespace {

using trace::Nanoseconds;
using Wide = __int128;

// Of rounding alone: a line through the bounds themselves fits.
constexpr double kRounding = 1e-13;

struct Point {
  Nanoseconds at = 0;
  std::int64_t offset = 0;
};

double slope(const Point& from, const Point& to) {
  return static_cast<double>(static_cast<Wide>(to.offset) - from.offset) /
         static_cast<double>(static_cast<Wide>(to.at) - from.at);
}

// How steep a line may be at most that passes above (or on) the points given to `stay_above` and below those
// given to `stay_below`; all in order of time.
class SteepestLine {
 public:
  // Above this point: it may matter for every later point to stay below.
  void stay_above(const Point& point) {
    while (!hull_.empty() && hull_.back().at == point.at) {
      if (hull_.back().offset >= point.offset) return;
      hull_.pop_back();
    }
    while (hull_.size() >= 2 &&
           slope(hull_[hull_.size() - 2], point) >= slope(hull_[hull_.size() - 2], hull_.back()))
      hull_.pop_back();
    hull_.push_back(point);
  }

  // The steepest line from a point to stay above, to this point: a line must be no steeper.
  // Infinity where there is no such point; minus infinity where one stands in the way at the same instant.
  double limit(const Point& below) const {
    std::size_t count = hull_.size();
    if (count > 0 && hull_.back().at == below.at) {
      if (hull_.back().offset > below.offset) return -std::numeric_limits<double>::infinity();
      --count;
    }
    if (count == 0) return std::numeric_limits<double>::infinity();
    // Towards the tangent the slope falls, behind it it rises.
    std::size_t low = 0, high = count - 1;
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (slope(hull_[middle + 1], below) < slope(hull_[middle], below)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return slope(hull_[low], below);
  }

 private:
  std::vector<Point> hull_;  // upper convex hull, by time
};

// The rates of all lines that fit the bounds given, which come in order of time.
class Fit {
 public:
  explicit Fit(double most_rate) : least_(-most_rate), most_(most_rate) {}

  // False, and nothing changes, where no line would be left.
  bool add(const OffsetBound& bound) {
    const Point point{bound.at, bound.offset}, mirrored{bound.at, -bound.offset};
    double least = least_, most = most_;
    if (bound.upper) {
      most = std::min(most, rising_.limit(point));
    } else {
      least = std::max(least, -falling_.limit(mirrored));
    }
    if (least > most + kRounding) return false;
    if (bound.upper) {
      falling_.stay_above(mirrored);
    } else {
      rising_.stay_above(point);
    }
    least_ = least;
    most_ = std::max(most, least);
    return true;
  }
  double least() const { return least_; }
  double most() const { return most_; }

 private:
  SteepestLine rising_, falling_;  // falling: the same of the picture upside down
  double least_, most_;
};

OffsetBound reversed(OffsetBound bound) {
  bound.at = -bound.at;
  return bound;
}

// The piece without its last bounds that one line fits together with bounds[end], which breaks it.
FittedPiece without_doubtful(std::span<const OffsetBound> bounds, const FittedPiece& piece, std::size_t end,
                             double most_rate) {
  Fit backwards(most_rate);
  std::size_t last = end;
  while (last > piece.first && backwards.add(reversed(bounds[last]))) --last;
  Fit sure(most_rate);
  for (std::size_t i = piece.first; i <= last; ++i) sure.add(bounds[i]);
  return {piece.first, last - piece.first + 1, sure.least(), sure.most()};
}

}  // namespace

std::vector<FittedPiece> fit_offset(std::span<const OffsetBound> bounds, double most_rate) {
  std::vector<FittedPiece> pieces;
  std::size_t next = 0;
  while (next < bounds.size()) {
    Fit fit(most_rate);
    FittedPiece piece{next, 0, 0, 0};
    while (next < bounds.size() && fit.add(bounds[next])) ++next;
    piece.count = next - piece.first;
    piece.least_rate = fit.least();
    piece.most_rate = fit.most();
    if (next < bounds.size()) piece = without_doubtful(bounds, piece, next, most_rate);
    pieces.push_back(piece);
  }
  return pieces;
}

}  // namespace lockstep::analyzer

// Samples into counter points.
#pragma once

#include <optional>
#include <vector>

#include "trace/writer.h"
#include "tracer/inject/sources/host/quantity.h"

namespace lockstep::tracer::host {

// The points of one quantity. A value holds for the time from the point before to its own; where it does not
// change, points in between are left out. So the growth of a rate's reading between two points is exactly
// value · time between them.
class Series {
 public:
  explicit Series(const Quantity& quantity) : quantity_(quantity) {}

  // Calls `point(time, value)` for what has to be written; not for a reading that is not there.
  template <class Point>
  void add(trace::Nanoseconds time, const Amount& reading, const Point& point);
  // Writes the last point, if it was left out.
  template <class Point>
  void finish(const Point& point);

 private:
  const Quantity& quantity_;
  bool begun_ = false;
  bool left_out_ = false;  // the point at last_time_
  trace::Nanoseconds last_time_ = 0;
  double last_value_ = 0;
  std::uint64_t last_reading_ = 0;
};

// All series of a file. The list of quantities must outlive it.
class SeriesWriter {
 public:
  SeriesWriter(trace::Writer& writer, std::uint64_t process, const std::vector<Quantity>& quantities);
  void add(const Sample& sample);
  void finish();

 private:
  void write(std::size_t index, trace::Nanoseconds time, double value);

  trace::Writer& writer_;
  std::uint64_t process_;
  const std::vector<Quantity>& quantities_;
  std::vector<Series> series_;
  std::vector<std::optional<trace::LaneId>> lanes_;  // made with a quantity's first point
};

template <class Point>
void Series::add(trace::Nanoseconds time, const Amount& reading, const Point& point) {
  if (!reading.has_value()) return;
  const bool is_rate = quantity_.kind == Quantity::Kind::rate;
  double value = static_cast<double>(*reading) * quantity_.scale;
  if (is_rate) {
    // A reading that falls was reset; what it grew is not known.
    const std::uint64_t growth = begun_ && *reading >= last_reading_ ? *reading - last_reading_ : 0;
    const double seconds = static_cast<double>(time - last_time_) * 1e-9;
    value = begun_ && seconds > 0 ? static_cast<double>(growth) * quantity_.scale / seconds : 0;
  }
  last_reading_ = *reading;
  if (begun_ && value == last_value_) {
    left_out_ = true;
  } else {
    if (left_out_) point(last_time_, last_value_);
    point(time, value);
    left_out_ = false;
  }
  begun_ = true;
  last_time_ = time;
  last_value_ = value;
}

template <class Point>
void Series::finish(const Point& point) {
  if (left_out_) point(last_time_, last_value_);
  left_out_ = false;
}

}  // namespace lockstep::tracer::host

#include "tracer/inject/sources/host/series.h"

#include <algorithm>

namespace lockstep::tracer::host {

SeriesWriter::SeriesWriter(trace::Writer& writer, std::uint64_t process,
                           const std::vector<Quantity>& quantities)
    : writer_(writer), process_(process), quantities_(quantities), lanes_(quantities.size()) {
  series_.reserve(quantities.size());
  for (const Quantity& quantity : quantities) series_.emplace_back(quantity);
}

void SeriesWriter::write(std::size_t index, trace::Nanoseconds time, double value) {
  std::optional<trace::LaneId>& lane = lanes_[index];
  if (!lane.has_value()) {
    trace::Lane description;
    description.kind = trace::LaneKind::counter;
    description.process = process_;
    description.device = quantities_[index].device;
    description.name = quantities_[index].name;
    lane = writer_.add_lane(description);
  }
  writer_.append(trace::Counter{*lane, time, value});
}

void SeriesWriter::add(const Sample& sample) {
  for (std::size_t i = 0; i < std::min(series_.size(), sample.readings.size()); ++i) {
    series_[i].add(sample.time, sample.readings[i],
                   [&](trace::Nanoseconds time, double value) { write(i, time, value); });
  }
}

void SeriesWriter::finish() {
  for (std::size_t i = 0; i < series_.size(); ++i) {
    series_[i].finish([&](trace::Nanoseconds time, double value) { write(i, time, value); });
  }
}

}  // namespace lockstep::tracer::host

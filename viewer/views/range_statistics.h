// Every rank's time within a range: the analyzer's own functions, asked about that range.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "analyzer/analysis.h"
#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

// One rank as the analyzer reads it, copied from the prepared run.
struct RankForAnalysis {
  analyzer::RankTrace trace;
  std::vector<analyzer::CommunicationWait> waits;
  analyzer::IntervalSet pipeline_regions;
};
RankForAnalysis rank_for_analysis(const Scene& scene, std::size_t rank);

// What `lockstep analyze --range` says of the rank, to the nanosecond. O(events of the rank).
analyzer::Measures measure_range(const Scene& scene, std::size_t rank, TimeRange range);

// The same of all ranks, computed beside the drawing.
class RangeStatistics {
 public:
  explicit RangeStatistics(const Scene& scene) : scene_(scene) {}
  ~RangeStatistics() { stop(); }
  RangeStatistics(const RangeStatistics&) = delete;
  RangeStatistics& operator=(const RangeStatistics&) = delete;

  // Starts anew unless this is the range that is known or being computed.
  void ask(TimeRange range);
  void stop();
  bool busy() const { return worker_.joinable() && done_ < scene_.timeline().ranks.size(); }
  std::optional<TimeRange> range() const { return range_; }
  // How many ranks, from the first on, are known.
  std::size_t done() const { return done_; }
  // Precondition: rank < done().
  const analyzer::Measures& of(std::size_t rank) const { return measures_[rank]; }
  void wait();

 private:
  const Scene& scene_;
  std::optional<TimeRange> range_;
  std::vector<analyzer::Measures> measures_;
  std::atomic<std::size_t> done_ = 0;
  std::jthread worker_;
};

}  // namespace lockstep::viewer

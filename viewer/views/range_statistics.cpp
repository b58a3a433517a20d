#include "viewer/views/range_statistics.h"

#include <algorithm>
#include <utility>

#include "analyzer/model/check_job.h"

namespace lockstep::viewer {

namespace {

template <class T>
std::vector<T> copy_of(std::span<const T> values) {
  return {values.begin(), values.end()};
}

}  // namespace

RankForAnalysis rank_for_analysis(const Scene& scene, std::size_t rank) {
  const RankContents& contents = scene.rank(rank);
  const RankData& data = scene.data(rank);
  RankForAnalysis made;
  analyzer::RankTrace& trace = made.trace;
  trace.rank = contents.rank;
  trace.host = contents.host;
  trace.device = contents.device;
  trace.file = contents.file;
  trace.lanes = contents.lanes;
  trace.activities = copy_of(data.activities);
  trace.communications = copy_of(data.communications);
  trace.computations = copy_of(data.computations);
  trace.host_ranges = copy_of(data.host_ranges);
  trace.steps = copy_of(data.step_marks);
  trace.lost = contents.lost;
  trace.unrecorded = contents.unrecorded;
  trace.resolution_ns = contents.resolution_ns;
  trace.clock = contents.clock;
  made.waits = copy_of(scene.tables().array(contents.waits));
  made.waits.resize(trace.communications.size());
  made.pipeline_regions =
      analyzer::IntervalSet::from(copy_of(scene.tables().array(contents.pipeline_regions)));
  return made;
}

analyzer::Measures measure_range(const Scene& scene, std::size_t rank, TimeRange range) {
  const RankForAnalysis made = rank_for_analysis(scene, rank);
  const analyzer::RankTimeline timeline(made.trace, made.waits, made.pipeline_regions);
  // Screens reach further than anything that is recorded; between these limits any length can be told.
  constexpr Nanoseconds kLast = analyzer::kTimeLimit - 1;
  range.begin = std::clamp(range.begin, -kLast, kLast);
  range.end = std::clamp(range.end, range.begin, kLast);
  analyzer::Measures measures = analyzer::measures_of(timeline, range.begin, range.end);
  if (const analyzer::RankReport* report = scene.rank_report(rank))
    measures.waits_known = report->measures.waits_known;
  return measures;
}

void RangeStatistics::ask(TimeRange range) {
  if (range_ && range_->begin == range.begin && range_->end == range.end) return;
  stop();
  range_ = range;
  done_ = 0;
  measures_.assign(scene_.timeline().ranks.size(), {});
  worker_ = std::jthread([this, range](const std::stop_token& stopped) {
    for (std::size_t rank = 0; rank < measures_.size() && !stopped.stop_requested(); ++rank) {
      measures_[rank] = measure_range(scene_, rank, range);
      done_.store(rank + 1, std::memory_order_release);
    }
  });
}

void RangeStatistics::stop() {
  if (worker_.joinable()) {
    worker_.request_stop();
    worker_.join();
  }
  range_.reset();
}

void RangeStatistics::wait() {
  if (worker_.joinable()) worker_.join();
}

}  // namespace lockstep::viewer

// One stage of a pipeline: what its rank did, ready to be asked about any region. Internal to this library.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/metrics/pipeline_schedule.h"
#include "analyzer/metrics/waits.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

class StageTime {
 public:
  // `passes_known`: only forward, backward and recompute count as compute. O(activities of the rank).
  StageTime(const RankTrace& rank, const std::vector<CommunicationWait>& waits, bool passes_known);

  const RankTrace& rank() const { return *rank_; }
  // Of its forward passes, sorted; and how many separate blocks they form, at least 1.
  const std::vector<std::int32_t>& layers() const { return layers_; }
  std::int32_t chunks() const { return chunks_; }
  // The passes of one step in order of time: ranges of one pass, microbatch and chunk that follow each other
  // are one item. Recomputation is no item of its own.
  std::vector<PassItem> items(std::optional<std::int64_t> step) const;
  // Adds what the stage did in the region of `step`.
  void add(Interval region, std::optional<std::int64_t> step, PipelineStage& sums) const;
  bool was_lost_within(Interval region) const { return rank_->was_lost_within(region.begin, region.end); }

 private:
  std::int32_t chunk_of(std::int32_t layer) const;

  const RankTrace* rank_;
  bool passes_known_;
  IntervalSet compute_, busy_;  // busy: compute, or transfer
  std::vector<std::int32_t> layers_;
  std::int32_t chunks_ = 1;
  // Indices of forward, backward and recompute activities of each step, in order of begin.
  std::map<std::optional<std::int64_t>, std::vector<std::uint32_t>> passes_;
};

}  // namespace lockstep::analyzer

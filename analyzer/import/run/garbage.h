// Python's long garbage collections: on a CPU they lie within the ranges of passes, and are no computation.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/model/job.h"
#include "trace/reader.h"

namespace lockstep::analyzer::run {

class GarbageCollections {
 public:
  explicit GarbageCollections(const trace::Reader& reader) : reader_(reader) {}

  void take(const trace::HostRange& range);
  // Out of the computations of the threads that collected.
  void cut_from(RankTrace& rank) &&;

 private:
  const trace::Reader& reader_;
  std::map<std::uint64_t, std::vector<Interval>> of_thread_;  // by handle
};

}  // namespace lockstep::analyzer::run

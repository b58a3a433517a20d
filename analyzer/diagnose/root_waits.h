// The root of a broadcast or scatter waits for nobody, by definition (docs/metrics.md): its time counts as
// transfer. Where what carries it out needs the receivers, as Gloo does and NCCL beyond its buffers, the root
// cannot leave before the last of them has come, and until then nothing is moved to that one.
#pragma once

#include <cstdint>
#include <map>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/model/job.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

class RootWaits {
 public:
  // O(activities of roots + records · log records).
  RootWaits(const Job& job, const Report& report);

  // In which the rank stood as the root of an operation that ended behind the arrival of its last receiver,
  // before that arrival, and neither computed nor moved data in another operation: within [begin, end), in
  // the report's time.
  std::int64_t of(std::int32_t rank, std::int64_t begin_ns, std::int64_t end_ns) const;
  // Over all ranks' windows.
  std::int64_t all_ns() const { return all_ns_; }
  // Over all operations of a kind, computed beside or not.
  std::int64_t of(Operation operation) const;
  // Of an operation's transfer on one rank; 0 unless it is the root there.
  std::int64_t in(const CollectiveRank& rank) const;
  // Of all that, what ended when this rank came, the last receiver.
  std::int64_t for_receiver(std::int32_t rank) const;

 private:
  std::int64_t origin_ns_ = 0;                   // of the report's time
  std::map<std::int32_t, IntervalSet> by_rank_;  // in aligned time
  std::map<Operation, std::int64_t> by_operation_;
  std::map<std::int32_t, std::int64_t> by_receiver_;
  std::int64_t all_ns_ = 0;
};

}  // namespace lockstep::analyzer

#include "analyzer/report/report.h"

#include <algorithm>
#include <numeric>

namespace lockstep::analyzer {

const char* to_string(Cause cause) {
  switch (cause) {
    case Cause::compute:
      return "compute";
    case Cause::transfer:
      return "transfer";
    case Cause::barrier_wait:
      return "barrier_wait";
    case Cause::pipeline_bubble:
      return "pipeline_bubble";
    case Cause::copy:
      return "copy";
    case Cause::data_wait:
      return "data_wait";
    case Cause::host_bound:
      return "host_bound";
    case Cause::queued:
      return "queued";
    case Cause::other:
      return "other";
  }
  return "other";
}

std::int64_t Partition::total() const {
  return std::accumulate(ns.begin(), ns.end(), std::int64_t{0});
}

bool all_known(const Report& report) {
  return std::all_of(report.ranks.begin(), report.ranks.end(),
                     [](const RankReport& rank) { return rank.measures.known; });
}

}  // namespace lockstep::analyzer

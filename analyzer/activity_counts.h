// How many activities of each kind a rank's trace has.
#pragma once

#include "analyzer/model/job.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Those that only wait, and those that nobody could classify, are none of them. O(activities).
inline RankReport::Activities count_activities(const RankTrace& trace) {
  RankReport::Activities counts;
  for (const Activity& activity : trace.activities) {
    switch (activity.activity_class) {
      case Class::compute:
        ++counts.compute;
        break;
      case Class::collective:
        ++counts.collective;
        break;
      case Class::p2p:
        ++counts.p2p;
        break;
      case Class::copy:
        ++counts.copy;
        break;
      case Class::sync:
      case Class::unclassified:
        break;
    }
  }
  return counts;
}

}  // namespace lockstep::analyzer

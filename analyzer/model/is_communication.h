// Which classes of activities are communication.
#pragma once

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// Whether activities of this class have an entry in RankTrace::communications.
inline bool is_communication(Class activity_class) {
  return activity_class == Class::collective || activity_class == Class::p2p;
}

}  // namespace lockstep::analyzer

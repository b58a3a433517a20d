// A job of which only the order of operations is known, as dumps of flight recorders tell it: one rank.
#pragma once

#include "analyzer/model/job.h"

namespace lockstep::viewer {

inline analyzer::Job job_without_times() {
  analyzer::Job job;
  job.sources = {"flight recorder"};
  job.dumps = analyzer::Dumps::all;
  job.groups.resize(1);
  job.groups[0].ranks = {0};
  job.ranks.resize(1);
  job.ranks[0].ending.hang_noted = 1'000;
  job.ranks[0].ending.progress = {{0, 7, 6}};
  return job;
}

}  // namespace lockstep::viewer

// One rank that computes, pauses, and computes on.
#pragma once

#include "tests/accuracy/about.h"

namespace lockstep::accuracy {

struct Pause {
  bool copies = false, loads = false;
  bool first_launch_known = true, launch_known = true;
  bool launched_late = false;
  const char* device = "cuda:0";
};
inline analyzer::Job pausing_job(Random& random, const Pause& what) {
  using analyzer::Nanoseconds, analyzer::us;
  analyzer::JobBuilder job;
  const Nanoseconds pause = about(random, 200);
  analyzer::RankBuilder& rank = job.rank(0);
  for (int i = 0; i < 5; ++i) {
    const Nanoseconds begin = i * 1000 * us, middle = begin + 400 * us, end = begin + 1000 * us;
    rank.compute(begin, middle);
    if (what.first_launch_known) rank.launched(begin - 2, begin - 1);
    if (what.copies) rank.copy(middle, middle + pause).launched(begin, begin + 1);
    if (what.loads) rank.data_loading(middle, middle + pause);
    rank.compute(middle + pause, end);
    const Nanoseconds launch = what.launched_late ? middle + pause - us : begin;
    if (what.launch_known) rank.launched(launch, launch + us);
  }
  rank.trace().device = what.device;
  return job.build();
}

}  // namespace lockstep::accuracy

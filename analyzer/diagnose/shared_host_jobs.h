// Jobs of two ranks on a host whose cores may be too few.
#pragma once

#include <algorithm>
#include <functional>
#include <string>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {

// Two ranks of a host, 40 steps. A rank computes for 2 ms, and waits for a core for `waits` µs of its
// computation; rank 1 then does what has no name for `idle` µs, of which it waits for `idle_waits`, and both
// meet. What else there is moves by a millisecond from step to step.
struct SharedHost {
  Nanoseconds waits_0 = 1000, waits_1 = 1000;
  int waits_1_from = 0;  // a step; before it rank 1 waits as rank 0 does
  // In which steps rank 1 waits and computes otherwise than rank 0.
  std::function<bool(int step)> differs_1 = [](int) { return true; };
  Nanoseconds more_1 = 0;    // that rank 1 computes on a core
  Nanoseconds asleep_1 = 0;  // and for which it sleeps within its computation, between two looks
  Nanoseconds idle = 0, idle_waits = 0;
  Nanoseconds idle_ran = 0;    // and for which it runs
  std::string idle_name = {};  // the host range around it; "": none
  bool collects_0 = false;     // rank 0 collects garbage for as long, while it waits in the all-reduce
  Nanoseconds moves = 1000;    // what else there is: by so much from step to step
  std::string cores_1 = "0-1";
};
inline Job job_of(const SharedHost& host) {
  JobBuilder job;
  SchedulingPoint looks[2] = {{0, 0, 0, 0, false}, {0, 0, 0, 0, false}};
  for (int rank = 0; rank < 2; ++rank) {
    RankTrace& trace = job.rank(rank).trace();
    trace.device = "cpu";
    trace.off_cpu_known = true;
    trace.host = "node0";
    trace.core_set = rank == 0 ? "0-1" : host.cores_1;
    trace.scheduling = {looks[rank]};
  }
  const auto look = [&](int rank, Nanoseconds time, Nanoseconds ran, Nanoseconds waited) {
    SchedulingPoint& next = looks[rank];
    next.time = time * us;
    next.on_cpu_ns += ran * us;
    next.runnable_ns += waited * us;
    next.waited_ns += waited * us;
    next.known = true;
    job.rank(rank).trace().scheduling.push_back(next);
  };
  Nanoseconds begin = 0;
  for (int step = 0; step < 40; ++step) {
    const Nanoseconds moves = (step * 7 % 5) * host.moves / 4;
    Nanoseconds ready[2];
    for (int rank = 0; rank < 2; ++rank) {
      const bool is_alike = rank == 0 || !host.differs_1(step);
      const Nanoseconds waits = is_alike || step < host.waits_1_from ? host.waits_0 : host.waits_1;
      const Nanoseconds more = is_alike ? 0 : host.more_1;
      const Nanoseconds asleep = rank == 0 ? 0 : host.asleep_1;
      const Nanoseconds computed =
          begin + 2000 + more + waits + asleep + (rank == 0 ? moves : host.moves - moves);
      const Nanoseconds idle = rank == 1 ? host.idle : 0;
      job.rank(rank).compute(begin * us, computed * us).launched(begin * us, begin * us);
      look(rank, computed, computed - begin - waits - asleep, waits);
      ready[rank] = computed + idle;
      if (idle > 0) look(rank, ready[rank], host.idle_ran, host.idle_waits);
      if (idle > 0 && !host.idle_name.empty())
        job.rank(rank).host_range(computed * us, ready[rank] * us, host.idle_name);
      if (rank == 0 && host.collects_0)
        job.rank(rank).host_range(computed * us, (computed + host.idle) * us, "garbage collection");
    }
    const Nanoseconds end = std::max(ready[0], ready[1]) + 100;
    for (int rank = 0; rank < 2; ++rank) {
      job.rank(rank).all_reduce(ready[rank] * us, end * us).launched(ready[rank] * us, ready[rank] * us);
      job.rank(rank).step(step, begin * us, end * us);
      look(rank, end, 0, 0);
    }
    begin = end;
  }
  return job.build();
}
inline Report report_of(const SharedHost& host) {
  return report_of(job_of(host));
}

}  // namespace lockstep::analyzer

// Ranks that others waited for when somebody interrupted the job, and that had been at work until then:
// whether they would have come nobody knows, and no hang has been shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/diagnose/hung_operations.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer::hang {

struct AtWork {
  std::int32_t rank = kNoRank;
  // How it is known: its training threads ran, of the time that they were looked at since the others came; or
  // it computed, and how long before the interruption the last computation ended.
  std::int64_t ran_ns = 0, looked_ns = 0;
  std::optional<Nanoseconds> computed_before;
};

struct InterruptedWait {
  OperationKey key;         // in which ranks waited first
  HungOperation operation;  // of that key
  std::vector<AtWork> at_work;
};

// Of a job that was interrupted while ranks waited as long as in a hang: whom they waited for, where each of
// these was at work until the interruption, on a CPU or by its computations. Nothing where one was not, where
// the recorder noted a hang, or where something else keeps an operation from ending: ranks that disagree or
// wait for each other, a device that stands still, a rank of which nobody knows.
std::optional<InterruptedWait> find_interrupted_wait(const Job& job);

// "rank 0 was", "ranks 0, 2 were"
std::string who_was_at_work(const InterruptedWait& wait);
// "its training threads ran on a core for 7.21 s of the 7.83 s …"
std::string describe_work(const AtWork& work);

}  // namespace lockstep::analyzer::hang

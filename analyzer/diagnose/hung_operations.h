// The operations in which a job hung: which ranks are in them, and which never came.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "analyzer/diagnose/unanswered.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

struct HungRank {
  std::size_t rank = 0;  // index into Job::ranks
  OpenOperation operation;
  Nanoseconds waited = 0;  // 0: nobody knows when the recording ended
  bool gave_up = false;    // it ended, by a timeout of its own: its group was never whole
  // It has issued it and is not in it: it stands in an earlier one of the group, or its device has not come
  // to it.
  bool behind = false;
};

// One operation over ranks; a message of its two sides only.
struct HungOperation {
  Nanoseconds since = 0;  // the first rank came
  std::vector<HungRank> waiting;
  std::vector<std::int32_t> missing;  // of its group, and neither in it nor through it
  // Of its group, without a trace, or with one whose end is lost: nobody knows whether they came.
  std::vector<std::int32_t> unknown;
  // The input names all ranks of its group, or it is a message: where nobody is missing or unknown, all have
  // issued it.
  bool members_known = true;
  // Another rank has ended it: then all had come, and who is still in it is stuck by itself.
  bool ended_elsewhere = false;
};

using HungOperations = std::map<OperationKey, HungOperation>;

// Those that were open when the recorder noted a hang, or for much longer than any before when the recording
// ended or the job was interrupted; and, of a job whose hang was noted or that failed by it, those that some
// rank never came to and the others gave up.
HungOperations find_hung_operations(const Job& job);

// The ranks with a trace that others wait for and that wait for nobody: what they do, or do not, is the
// cause. All that are waited for, where they wait for each other; none, where some wait for ranks alone of
// which nobody knows. What the ranks of `stuck` wait in counts for nothing: their devices would not have
// ended it.
std::set<std::int32_t> ranks_that_hold_up(const Job& job, const HungOperations& hung,
                                          const std::set<std::int32_t>& stuck);

}  // namespace lockstep::analyzer

// What of a rank's trace is its GPU's, and whose GPU that is.
#pragma once

#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// The lane is a stream of a GPU. That of a communicator is a lane of its own kind, in all formats named after
// the stream.
bool is_gpu_lane(const JobLane& lane);

// The host stood still in it: synchronization, but for streams that wait for each other.
bool is_host_wait(const Activity& activity, const StringTable& strings);

// Ranks of one host whose GPU has the same UUID: two or more of each GPU, in the order of the ranks.
std::vector<std::vector<const RankTrace*>> ranks_that_share_gpus(const Job& job);

}  // namespace lockstep::analyzer

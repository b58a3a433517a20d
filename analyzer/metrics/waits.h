// Who waits for whom in an operation, how long, and who came last. Definitions: docs/metrics.md, "Barrier
// wait"; the model is Scalasca's wait states (Wait at N×N, Late Broadcast, Early Reduce, Late Sender, Late
// Receiver).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/match/match.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

enum class WaitKind : std::uint8_t {
  collective,
  p2p,
  pipeline_p2p,  // between stages of a pipeline group
};

// One communication's own wait interval: from its activity's begin to `until`. Empty where it did not wait.
struct CommunicationWait {
  Nanoseconds until = 0;
  WaitKind kind = WaitKind::collective;
};

// [rank index][communication index]
using JobWaits = std::vector<std::vector<CommunicationWait>>;

struct MatchWaits {
  std::vector<std::int64_t> wait_ns;  // per record of the match
  std::optional<std::uint32_t>
      last_arriver;            // index among the match's records; only above the clocks' uncertainty
  std::int64_t margin_ns = 0;  // by how much it was last; 0 where nobody is named
  bool root_unknown = false;   // a rooted operation computed as n-to-n
};

// Nobody waits, and nobody is named, among ranks whose clocks could not be related. In an unfinished match
// all wait from begin to end, for a rank that never came: of those who did, nobody was last.
MatchWaits compute_waits(const Job& job, const Matching& matching, const Match& match);

// Every communication of the job; what no match covers waits for nobody. Takes each match's wait_ns away:
// from here on they stand in the result.
JobWaits collect_waits(const Job& job, const Matching& matching, std::vector<MatchWaits>& of_matches);

// How long a record waited.
std::int64_t wait_of(const Job& job, const JobWaits& waits, MatchRecord record);

bool is_rooted(Operation operation);

}  // namespace lockstep::analyzer

// Why was the last arriver late? Delay analysis after Scalasca (Böhme et al., "Identifying the root causes of
// wait states in large-scale parallel applications"): since the ranks last left an operation of the group
// together, what did the late rank spend more time on than the median of the others?
//
// An operation under which compute runs on holds nobody up; ranks leave together only those that compute
// waited for.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "analyzer/diagnose/profile.h"
#include "analyzer/match/match.h"
#include "analyzer/metrics/waits.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

struct Delay {
  std::uint32_t match = 0;            // Matching::matches: the operation that others waited in
  std::uint32_t late_record = 0;      // among the match's records
  std::uint32_t since_match = kNone;  // the operation that the ranks left together; kNone: the job's begin
  Cause cause = Cause::other;         // what the late rank spent more time on
  std::int64_t own_ns = 0;            // on that cause, the late rank …
  std::int64_t others_ns = 0;         // … and the median of the others
  std::int64_t excess_ns = 0;         // own − others; 0: nothing explains a quarter of the lateness
  // It came into the recording later than the others, whatever it did before: `cause` is `other`, own_ns and
  // others_ns are when they came, counted from the first rank of the operation.
  bool entered_late = false;
  // The late rank waited itself: for the last arriver of this operation (Matching::matches).
  std::optional<std::uint32_t> waited_in;
};

// One for each match with a last arriver, kNoDelay elsewhere, by match. profiles: [rank index][communication
// index]; begins: [rank index], when each rank's recording begins (recording_begin).
struct Delays {
  std::vector<Delay> delays;
  std::vector<std::uint32_t> of_match;  // index into delays, or kNone
};
Delays find_delays(const Job& job, const Matching& matching, const std::vector<MatchWaits>& waits,
                   const JobWaits& job_waits, const std::vector<std::vector<CommunicationProfile>>& profiles,
                   const std::vector<Nanoseconds>& begins, const std::stop_token& stop = {});

// Follows `waited_in` to the delay that started the chain. Ends after as many steps as there are delays at
// most.
const Delay& root_of(const Delays& delays, const Delay& delay);

// When the late rank (or another rank of the match) left `since_match`; kUnknownTime where that is the job's
// begin or the rank took no part.
Nanoseconds left_at(const Job& job, const Matching& matching, const Delay& delay, std::uint32_t rank);

}  // namespace lockstep::analyzer

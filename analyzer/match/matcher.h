// Inside match: what its files share.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "analyzer/match/groups.h"
#include "analyzer/match/match.h"

namespace lockstep::analyzer {

// Collectives, and send_recv without direction that are an all-to-all.
void match_collectives(const Job& job, const GroupTable& table, const std::vector<MatchRecord>& records,
                       Matching& matching, const std::stop_token& stop);
// Sends, receives, and send_recv between two ranks: those of a group of two, or the record names the other.
void match_p2p(const Job& job, const GroupTable& table, const std::vector<MatchRecord>& records,
               Matching& matching, const std::stop_token& stop);

// Adds a match of `records` (sorted by rank), or rejects it: each record then stands alone.
void add_match(const Job& job, const std::vector<MatchRecord>& records, Match match, Matching& matching);
void add_alone(const Job& job, MatchRecord record, std::uint32_t group, Evidence evidence,
               Matching& matching);

// The operation that a record means in a group: send_recv without direction among more than two is an
// all-to-all.
Operation collective_operation(const Communication& communication);

// Do the times allow these records to be one operation? Records of n-to-n operations and of point-to-point
// pairs must not end before another one starts, beyond the uncertainty between the two ranks; a send may end
// before its receive starts.
bool is_possible(const Job& job, const std::vector<MatchRecord>& records, const Match& match);

// Compares what the records say; fills operation, bytes, data type and root into `match`.
std::optional<Contradiction> compare_records(const Job& job, const std::vector<MatchRecord>& records,
                                             Match& match);

}  // namespace lockstep::analyzer

// Inside match: collectives to which a rank never came, though its trace was recorded.
#pragma once

#include "analyzer/match/groups.h"
#include "analyzer/match/match.h"

namespace lockstep::analyzer {

// Sets Match::unfinished. Of collectives that every rank of a group numbers alike: a member came to none of
// this number or a later one, ended or open; or it left out this one, and nobody who came got any further.
// And its trace tells so: it reaches to the end of the others, or past the middle of their time in it, and
// has lost nothing. However the others left it, by a timeout or because a connection broke, nothing was moved
// to the end. O(records) where a match is partial, else O(matches).
void mark_unfinished(const Job& job, const GroupTable& table, Matching& matching);

}  // namespace lockstep::analyzer

// What a comparison says, in words: the same in the text, the page and the viewer.
#pragma once

#include <string>

#include "analyzer/diff/runs_diff.h"

namespace lockstep::analyzer {

// "B's steps take 420 ms, A's 400 ms: +20.0 ms (+5.0 %). Rank 2 is the difference: host-bound +19.8 ms, and
// the others wait for it."
std::string headline(const RunsDiff& diff);

// How sure that is and what would settle it: "Three runs of each side …".
std::string certainty(const RunsDiff& diff);

// By name; transfer is "communication" where some run does not know what of it was waiting.
const char* label_of(const RunsDiff& diff, Cause cause);

// "all_reduce "layer 3"", "2nd all_gather"
std::string name_of(const CollectiveKey& key);
// "layer 3, forward"
std::string name_of(const LayerKey& key);
const char* to_string(Presence presence);  // "only_a"

}  // namespace lockstep::analyzer

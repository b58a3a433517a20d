// Names of ranks, process groups, hosts and steps that a run does not have: what to say of them, and what
// there is instead.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

// One run, or the two that are compared: what one of them has is there.
using Runs = std::vector<const Scene*>;

// Those that no run has, in the order in which they are named.
std::vector<std::int32_t> absent_ranks(const std::vector<std::int32_t>& ranks, const Runs& runs);
// "ranks are 0 to 7", of the first run.
std::string ranks_in_words(const Runs& runs);

// Each of the following: what is wrong, and what would not be; "" where nothing is.
//
// Ordered by process groups of a name that none has.
std::string wrong_order(const RankOrder& order, const Runs& runs);
// A filter (rank_filter.h) that no rank passes, or ranks, hosts and groups in it that no rank is of.
// Precondition: it can be parsed.
std::string wrong_filter(const std::string& filter, const Runs& runs);
// A search (search.h) for an attribute that there is not. Names may hold "=": so no name of the run does.
// Looks at its strings once, and no longer than it takes to know. Precondition: it can be parsed.
std::string wrong_attribute(const std::string& search, const Scene& run, const std::stop_token& stop = {});

// Why a search may have found nothing: "ranks are 0 to 7" where it asks for another one; of a run without
// times where its operations stand; "" where it is not known, or where it was stopped.
std::string why_not_found(const std::string& search, const Scene& run, const std::stop_token& stop = {});

}  // namespace lockstep::viewer

// Which ranks are shown, as people type it:
//
//   3,7:12 40:          ranks 3, 7 to 12 (both included), and 40 and more
//   host=node2          of a host; * stands for any letters, whatever the case
//   group=dp            of a process group, by its name ("dp 0") or its kind ("dp")
//   late                that the report calls late
//   late=5ms            for which others waited longer than that, beyond what a pipeline's schedule makes
//
// Words of one kind add up, words of different kinds must all hold: "host=a host=b late" are the late ranks
// of both hosts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace lockstep::viewer {

struct JobFacts;

struct RankFilter {
  std::vector<std::pair<std::int64_t, std::int64_t>> ranks;  // both included
  std::vector<std::string> hosts, groups;                    // patterns
  bool late = false;
  std::optional<std::int64_t> late_ns;  // more than this
};

// Errors name the word that is wrong and what may stand there. An empty text is no filter: all ranks.
Result<RankFilter> parse_rank_filter(const std::string& text);

// By index into JobFacts::ranks: is it shown?
std::vector<bool> passing(const RankFilter& filter, const JobFacts& facts);

}  // namespace lockstep::viewer

// Which ranks the timeline shows, and in which order: ordered, filtered, pinned, and in sections that can be
// closed. Nothing of it changes what is in the scene; Layout works on the chosen sequence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lockstep::viewer {

class Scene;

// What ranks are ordered and filtered by.
struct RankFacts {
  std::int32_t rank = 0;
  std::string host;
  std::int64_t lost_ns = 0;  // others waited so long for it, beyond what a pipeline's schedule makes
  // As the report says who is late: others lost a hundredth of all time to it, or it never came.
  bool is_late = false;
  // A finding accuses it, and others lost as much to it: what of it is waited for has the colour of blame.
  bool is_marked = false;
  std::int64_t waited_ns = -1;  // it waited so long itself; -1: not known
};
struct GroupFacts {
  std::string name;                    // "dp 0"
  std::string kind;                    // "dp": the name without the number at its end
  std::vector<std::uint32_t> members;  // indices into JobFacts::ranks, sorted
};
struct JobFacts {
  std::vector<RankFacts> ranks;    // as in Timeline::ranks
  std::vector<GroupFacts> groups;  // of which the ranks are known; largest first
  // What a full bar of lost time stands for: the most that was lost to one rank, and at least a tenth of all
  // ranks' time, so that what costs little looks little.
  std::int64_t lost_scale_ns = 0;
  bool scheduled = false;  // a pipeline's schedule makes ranks wait
};
JobFacts job_facts(const Scene& scene);
// Each kind of group that divides the job, largest first: what ranks can be ordered by.
std::vector<std::string> group_kinds(const JobFacts& facts);
// "dp 0" and "dp_0" are of kind "dp"; a name that is only a number is its own kind.
std::string kind_of_group(std::string_view name);

enum class OrderBy : std::uint8_t {
  rank,
  host,
  group,
  lost,     // for which others waited longest first
  waiting,  // that waited longest first
};

// What the user wants. Ranks are named by their global numbers: it is kept from one run to the next.
struct RankOrder {
  OrderBy by = OrderBy::rank;
  // Where ordered by group: groups of this kind; "": each rank's largest group that is not the whole job.
  std::string group_kind;
  std::string filter;                // rank_filter.h; one that is wrong hides nothing
  std::vector<std::int32_t> pinned;  // in the order in which they were pinned
  std::vector<std::string> closed;   // RankSection::key
  bool operator==(const RankOrder&) const = default;
};

// "rank", "host", "group", "group=dp", "lost", "waiting"; errors name these.
Result<RankOrder> parse_order(const std::string& text);
// The same as parse_order() reads; filter, pins and closed sections left out.
std::string order_text(const RankOrder& order);
// The next one that makes sense for the job: by host only where there are several, by group only where there
// are any.
RankOrder next_order(const RankOrder& order, const JobFacts& facts);

// Ranks of one host or group.
struct RankSection {
  std::string title;                   // "node2", "dp 0"
  std::string summary;                 // "4 ranks: 0 to 3  ·  others waited 12 ms for them"
  std::string key;                     // under which it is closed
  std::uint32_t first = 0;             // RankSequence::ranks: where its ranks are, or would be
  std::uint32_t shown = 0;             // how many of those are its own: 0 where it is closed
  std::vector<std::uint32_t> members;  // all that it holds, pinned ones too
  bool open = true;
};

// Indices into Timeline::ranks, from the top. The pinned ones come first, in no section.
struct RankSequence {
  std::vector<std::uint32_t> ranks;
  std::uint32_t pinned = 0;
  std::vector<RankSection> sections;  // where ordered by host or group
};

// Pinned ranks are shown whatever the filter says. O(ranks · log ranks + members of groups).
RankSequence order_ranks(const JobFacts& facts, const RankOrder& order);
// "0 to 3, 7": as short as it gets, and no longer than anyone reads. Of numbers, or of indices into
// JobFacts::ranks.
std::string list_of_ranks(const std::vector<std::int32_t>& ranks);
std::string list_of_ranks(const JobFacts& facts, const std::vector<std::uint32_t>& members);
// All ranks by number.
RankSequence all_ranks(std::size_t count);

void toggle_pin(RankOrder& order, std::int32_t rank);
void toggle_section(RankOrder& order, const std::string& key);
// Closes all of them, or opens them if they all were closed.
void toggle_sections(const JobFacts& facts, RankOrder& order);
// Opens its section and, where it is filtered out, drops the filter, so that the rank can be shown.
void make_shown(const JobFacts& facts, std::uint32_t index, RankOrder& order);

}  // namespace lockstep::viewer

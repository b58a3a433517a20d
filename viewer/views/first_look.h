// What the command line asks to see first: its flags as they are written, and what they mean in a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "viewer/timeline/scene.h"
#include "viewer/views/command.h"
#include "viewer/views/names_of_run.h"

namespace lockstep::viewer {

// Panels that come to the front where `--panel` names none: with something to search for, or to measure.
inline constexpr const char* kSearchPanel = "Search";
inline constexpr const char* kRangePanel = "Range";

struct FirstLookFlags {
  std::string range, go_to, measure, panel, search;  // "": none
  std::int64_t collective = -1;                      // as the report numbers them; -1: none
  std::string order, filter;         // of ranks (rank_order.h, rank_filter.h); "": as they are
  std::vector<std::int32_t> pinned;  // ranks that stay at the top
  std::vector<LaneRole> open;        // host threads, counters: unfolded
  bool chain = false;                // draw the chain of waits from what is selected
  bool compared = false;             // two runs are
  bool panel_compares = false;       // the panel is there only where two runs are compared
  bool remembers = false;            // what was selected at the last look is selected again
};

struct FirstLook {
  std::optional<TimeRange> range;           // what to show first
  std::optional<std::uint32_t> collective;  // index into Scene::collectives(): selected and shown
  Command go_to;                            // what else to show first
  std::string panel;                        // to bring to the front: "Findings"; "": as they are
  std::string search;                       // what to search for; "": nothing
  std::optional<TimeRange> measured;        // a range to measure
  std::optional<RankOrder> order;           // by what ranks are ordered; its other fields are not looked at
  std::optional<std::string> filter;        // which are shown
  std::vector<std::int32_t> pinned;         // which stay at the top
  std::vector<LaneRole> open;               // which lanes are unfolded
  bool chain = false;

  // Then the place that was kept of the last look is not shown.
  bool shows_a_place() const { return range || collective || go_to.any(); }
};

// What is wrong with the value of `--collective`, or with one of `--pin`; "": it is a valid number.
std::string wrong_collective_number(std::string_view word);
std::string wrong_rank_number(std::string_view word);

struct FlagError {
  std::string message;  // names the flag
};

// What is wrong with the flags in any run, so that it is said before minutes of loading.
std::optional<FlagError> check(const FirstLookFlags& flags);

struct UnderstoodFlags {
  FirstLook look;                     // of all that make sense in this run
  std::vector<FlagError> wrong;       // the others
  std::vector<std::string> warnings;  // of those that make sense and show nothing; each names its flag
};
// Places are those of the first run. `selected`: the last look's selection is there.
UnderstoodFlags understand(const FirstLookFlags& flags, const Runs& runs, bool selected = false);

// What to say of a search that found nothing; names its flag. `why`: "" where it is not known.
std::string warning_of_search(const std::string& search, const std::string& why);

}  // namespace lockstep::viewer

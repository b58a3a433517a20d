// What is kept of a look at a run until the next one: the view, the selection, the ranks' order, marks, notes
// and more, in a small file beside the run.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

// An item by what it is: the run may have changed when it is looked for again.
struct KeptItem {
  std::int32_t rank = 0;
  LaneRole role = LaneRole::compute;
  std::uint32_t lane = 0;  // where several hold such an item
  Nanoseconds begin = 0;   // since the run's origin
  Nanoseconds end = 0;
  bool operator==(const KeptItem&) const = default;
};

struct Session {
  std::optional<TimeRange> view;  // since the run's origin
  std::optional<KeptItem> selected;
  std::optional<TimeRange> measured;  // since the run's origin
  std::string search;                 // "": none
  int scroll = 0;
  std::vector<TimeMark> marks;  // since the run's origin
  std::vector<std::int32_t> closed_ranks;
  // Host ranges and counters on all ranks, as the user wanted them; absent: as they fit.
  std::optional<bool> hosts_open, counters_open;
  RankOrder order;
  std::string notes;
  std::optional<bool> dark;  // the theme; absent: not known
};

// Without what is not the timeline's: search and theme.
Session session_of(const TimelineState& state, const Timeline& timeline);
// What was selected, where the run still has it.
std::optional<Item> selected_in(const Session& session, const Timeline& timeline);
// What of it fits the run; the rest is left out.
void restore(const Session& session, const Timeline& timeline, TimelineState& state);

// Errors name the file. That there is none is no error: nothing was kept.
Result<Session> read_session(const std::filesystem::path& path);
Status write_session(const std::filesystem::path& path, const Session& session);

}  // namespace lockstep::viewer

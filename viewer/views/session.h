// What is kept of a look at a run until the next one: the view, the ranks' order, marks and notes, in a small
// file beside the run.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trace/result.h"
#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

struct Session {
  std::optional<TimeRange> view;  // since the run's origin
  int scroll = 0;
  std::vector<TimeMark> marks;  // since the run's origin
  std::vector<std::int32_t> closed_ranks;
  RankOrder order;
  std::string notes;
  std::optional<bool> dark;  // the theme; absent: not known
};

Session session_of(const TimelineState& state, const Timeline& timeline);
// What of it fits the run; the rest is left out.
void restore(const Session& session, const Timeline& timeline, TimelineState& state);

// Errors name the file. That there is none is no error: nothing was kept.
Result<Session> read_session(const std::filesystem::path& path);
Status write_session(const std::filesystem::path& path, const Session& session);

}  // namespace lockstep::viewer

#include "viewer/prepared/tracks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analyzer/model/is_communication.h"

namespace lockstep::viewer {

namespace {

using analyzer::Activity;
using analyzer::Class;
using analyzer::RankTrace;

// The waiting part of an activity, as the analysis has it.
std::uint64_t wait_of(const Activity& activity, const RankAnalysis& analysis) {
  if (!analyzer::is_communication(activity.activity_class) || activity.communication >= analysis.waits.size())
    return 0;
  const Nanoseconds until = std::min(analysis.waits[activity.communication].until, activity.end);
  return until > activity.begin ? distance(activity.begin, until) : 0;
}

Track cause_track(std::span<const analyzer::CauseSegment> segments) {
  Track track;
  track.label = "cause";
  std::vector<Event> events;
  events.reserve(segments.size());
  for (std::size_t i = 0; i < segments.size(); ++i)
    events.push_back({segments[i].begin, segments[i].end, static_cast<std::uint32_t>(i), 0});
  track.rows = make_rows(std::move(events));
  return track;
}

void add_waits(const RankTrace& trace, const RankAnalysis& analysis, RowColumns& row) {
  std::uint64_t sum = 0;
  row.wait.reserve(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    sum += std::min(wait_of(trace.activities[row.item[i]], analysis), distance(row.begin[i], row.end[i]));
    row.wait.push_back(sum);
  }
}

// Whose operations these are: "dp", or "dp, tp" of a lane that serves several groups; "" where that is not
// known.
std::string groups_of(const RankTrace& trace, const std::vector<Event>& events,
                      std::span<const analyzer::JobGroup> groups) {
  constexpr std::size_t kNamed = 3;
  std::map<std::uint32_t, std::size_t> counts;
  for (const Event& event : events) {
    const std::uint32_t communication = trace.activities[event.item].communication;
    if (communication >= trace.communications.size()) continue;
    const std::uint32_t group = trace.communications[communication].group;
    if (group < groups.size()) ++counts[group];
  }
  std::vector<std::pair<std::size_t, std::uint32_t>> most;
  most.reserve(counts.size());
  for (const auto& [group, count] : counts) most.emplace_back(count, group);
  std::stable_sort(most.begin(), most.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> names;
  for (const auto& [count, group] : most) {
    const std::string& name =
        groups[group].description.empty() ? groups[group].name : groups[group].description;
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (names.size() > kNamed) {
    names.resize(kNamed);
    names.emplace_back("…");
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// Where a lane's messages go, as far as it is the same of all: "to 2", "from 2", "with 2", "sends" or
// "receives"; "" where it is not, and where there are other operations too.
std::string direction_of(const RankTrace& trace, const std::vector<Event>& events) {
  bool sends = false, receives = false, one_peer = true;
  std::optional<std::int32_t> peer;
  for (const Event& event : events) {
    const std::uint32_t index = trace.activities[event.item].communication;
    if (index >= trace.communications.size()) return {};
    const analyzer::Communication& message = trace.communications[index];
    if (message.operation != analyzer::Operation::send && message.operation != analyzer::Operation::recv)
      return {};
    (message.operation == analyzer::Operation::send ? sends : receives) = true;
    one_peer = one_peer && message.peer != analyzer::kNoRank && peer.value_or(message.peer) == message.peer;
    peer = message.peer;
  }
  if (!peer || (!one_peer && sends && receives)) return {};
  if (!one_peer) return sends ? "sends" : "receives";
  return fmt::format("{} {}", !receives ? "to" : !sends ? "from" : "with", *peer);
}

std::vector<Track> device_tracks(const RankTrace& trace, const RankAnalysis& analysis) {
  struct Found {
    std::vector<Event> events;
    std::size_t communication = 0;
  };
  std::map<std::uint32_t, Found> by_lane;
  for (std::size_t i = 0; i < trace.activities.size(); ++i) {
    const Activity& activity = trace.activities[i];
    Found& found = by_lane[activity.lane];
    found.events.push_back({activity.begin, activity.end, static_cast<std::uint32_t>(i), 0});
    if (analyzer::is_communication(activity.activity_class)) ++found.communication;
  }
  std::vector<Track> tracks;
  for (auto& [index, found] : by_lane) {
    Track track;
    track.job_lane = index;
    const bool declared =
        index < trace.lanes.size() && trace.lanes[index].kind == trace::LaneKind::communication;
    track.role = declared || found.communication * 2 > found.events.size() ? LaneRole::communication
                                                                           : LaneRole::compute;
    track.label = index < trace.lanes.size() ? trace.lanes[index].name : fmt::format("lane {}", index);
    if (track.role == LaneRole::communication) {
      // A lane that its file named so already says it once. Where the name is cut, its end says least.
      std::vector<std::string> parts{groups_of(trace, found.events, analysis.groups),
                                     direction_of(trace, found.events)};
      if (track.label != parts.front()) parts.push_back(track.label);
      std::erase(parts, "");
      track.label = fmt::format("{}", fmt::join(parts, " · "));
    }
    track.rows = make_rows(std::move(found.events), trace.resolution_ns);
    for (RowColumns& row : track.rows) add_waits(trace, analysis, row);
    tracks.push_back(std::move(track));
  }
  std::stable_sort(tracks.begin(), tracks.end(),
                   [](const Track& a, const Track& b) { return a.role < b.role; });
  return tracks;
}

}  // namespace

std::vector<Track> analyzed_tracks(const RankTrace& trace, const RankAnalysis& analysis) {
  std::vector<Track> tracks;
  if (!analysis.segments.empty()) tracks.push_back(cause_track(analysis.segments));
  for (Track& track : device_tracks(trace, analysis)) tracks.push_back(std::move(track));
  return tracks;
}

std::vector<Track> host_tracks(const RankTrace& trace) {
  std::map<std::uint32_t, std::vector<Event>> by_lane;
  for (std::size_t i = 0; i < trace.host_ranges.size(); ++i) {
    const analyzer::HostRange& range = trace.host_ranges[i];
    by_lane[range.lane].push_back({range.begin, range.end, static_cast<std::uint32_t>(i), range.depth});
  }
  std::vector<Track> tracks;
  for (auto& [index, events] : by_lane) {
    Track track;
    track.role = LaneRole::host;
    track.job_lane = index;
    track.label =
        (index < trace.lanes.size() ? trace.lanes[index].name : fmt::format("thread {}", index)) + " (host)";
    track.rows = make_rows(std::move(events), trace.resolution_ns);
    tracks.push_back(std::move(track));
  }
  return tracks;
}

}  // namespace lockstep::viewer

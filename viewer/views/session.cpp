#include "viewer/views/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "analyzer/report/unicode.h"
#include "base/small_file.h"

namespace lockstep::viewer {

namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kSchema = "lockstep.view/1";

constexpr std::array kRoles{LaneRole::causes, LaneRole::compute, LaneRole::communication, LaneRole::host,
                            LaneRole::counter};

const char* name_of(LaneRole role) {
  switch (role) {
    case LaneRole::causes:
      return "causes";
    case LaneRole::compute:
      return "compute";
    case LaneRole::communication:
      return "communication";
    case LaneRole::host:
      return "host";
    case LaneRole::counter:
      return "counter";
  }
  return "";
}

// One that a later version knows is nothing that this one could select.
std::optional<KeptItem> kept_item(const Json& json) {
  const std::string role = json.at("lane_role").get<std::string>();
  const auto known =
      std::find_if(kRoles.begin(), kRoles.end(), [&role](LaneRole each) { return name_of(each) == role; });
  if (known == kRoles.end()) return std::nullopt;
  return KeptItem{json.at("rank").get<std::int32_t>(), *known, json.at("lane").get<std::uint32_t>(),
                  json.at("begin_ns").get<std::int64_t>(), json.at("end_ns").get<std::int64_t>()};
}

TimeRange range_in(const Json& json) {
  return {json.at(0).get<std::int64_t>(), json.at(1).get<std::int64_t>()};
}

std::optional<Item> find_in_lane(const Timeline& timeline, std::uint32_t rank, std::uint32_t lane,
                                 const TimeRange& range) {
  const std::vector<Row>& rows = timeline.ranks[rank].lanes[lane].rows;
  for (std::uint32_t r = 0; r < rows.size(); ++r) {
    const Row& row = rows[r];
    const auto first = std::lower_bound(row.begin.begin(), row.begin.end(), range.begin);
    for (auto at = static_cast<std::size_t>(first - row.begin.begin());
         at < row.size() && row.begin[at] == range.begin; ++at)
      if (row.end[at] == range.end) return Item{rank, lane, r, static_cast<std::uint32_t>(at)};
  }
  return std::nullopt;
}

}  // namespace

Session session_of(const TimelineState& state, const Timeline& timeline) {
  Session session;
  const Nanoseconds origin = timeline.origin;
  const auto since = [origin](Nanoseconds time) {
    Nanoseconds result = 0;
    return __builtin_sub_overflow(time, origin, &result) ? Nanoseconds{0} : result;
  };
  session.view = TimeRange{since(state.view.begin), since(saturating_add(state.view.begin, state.view.span))};
  session.scroll = state.scroll;
  if (state.selected) {
    const RankTracks& rank = timeline.ranks[state.selected->rank];
    const TrackLane& lane = rank.lanes[state.selected->lane];
    const Row& row = lane.rows[state.selected->row];
    session.selected = KeptItem{rank.rank, lane.role, state.selected->lane,
                                since(row.begin[state.selected->at]), since(row.end[state.selected->at])};
  }
  if (state.measured) session.measured = TimeRange{since(state.measured->begin), since(state.measured->end)};
  for (const TimeMark& mark : state.marks) session.marks.push_back({since(mark.time), mark.note});
  for (std::size_t rank = 0; rank < timeline.ranks.size(); ++rank)
    if (!state.expansion.rank_open(rank)) session.closed_ranks.push_back(timeline.ranks[rank].rank);
  session.hosts_open = state.expansion.wanted(LaneRole::host);
  session.counters_open = state.expansion.wanted(LaneRole::counter);
  session.order = state.order;
  session.notes = state.notes;
  return session;
}

std::optional<Item> selected_in(const Session& session, const Timeline& timeline) {
  if (!session.selected) return std::nullopt;
  const KeptItem& kept = *session.selected;
  const TimeRange range{saturating_add(timeline.origin, kept.begin),
                        saturating_add(timeline.origin, kept.end)};
  for (std::uint32_t rank = 0; rank < timeline.ranks.size(); ++rank) {
    if (timeline.ranks[rank].rank != kept.rank) continue;
    const std::vector<TrackLane>& lanes = timeline.ranks[rank].lanes;
    std::optional<Item> found;
    for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
      if (lanes[lane].role != kept.role || (found && lane != kept.lane)) continue;
      if (const auto item = find_in_lane(timeline, rank, lane, range)) found = item;
    }
    return found;
  }
  return std::nullopt;
}

void restore(const Session& session, const Timeline& timeline, TimelineState& state) {
  const auto absolute = [&timeline](Nanoseconds time) { return saturating_add(timeline.origin, time); };
  if (session.view && session.view->begin < session.view->end)
    state.view = clamp(fit({absolute(session.view->begin), absolute(session.view->end)}, 0), state.reach);
  state.scroll = std::max(session.scroll, 0);
  state.selected = selected_in(session, timeline);
  state.measured.reset();
  if (session.measured && session.measured->begin < session.measured->end) {
    const TimeRange measured{absolute(session.measured->begin), absolute(session.measured->end)};
    if (measured.begin < timeline.content.end && measured.end > timeline.content.begin)
      state.measured = measured;
  }
  state.marks.clear();
  for (const TimeMark& mark : session.marks) state.marks.push_back({absolute(mark.time), mark.note});
  std::sort(state.marks.begin(), state.marks.end(),
            [](const TimeMark& a, const TimeMark& b) { return a.time < b.time; });
  for (std::size_t rank = 0; rank < timeline.ranks.size(); ++rank) {
    const bool closed = std::find(session.closed_ranks.begin(), session.closed_ranks.end(),
                                  timeline.ranks[rank].rank) != session.closed_ranks.end();
    if (closed == state.expansion.rank_open(rank)) state.expansion.toggle_rank(rank);
  }
  if (session.hosts_open) state.expansion.want(timeline, LaneRole::host, *session.hosts_open);
  if (session.counters_open) state.expansion.want(timeline, LaneRole::counter, *session.counters_open);
  state.order = session.order;
  state.notes = session.notes;
}

Result<Session> read_session(const std::filesystem::path& path) {
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return Session{};
  const Json json = Json::parse(read_small_file(path.string(), kWholeFile), nullptr, false);
  const auto wrong = [&path](const std::string& why) {
    return Error{fmt::format("{}: {}; it is left as it is", path.string(), why)};
  };
  if (!json.is_object() || !json.contains("schema") || json["schema"] != kSchema)
    return wrong("not a view that was kept");
  Session session;
  try {
    if (json.contains("view")) session.view = range_in(json["view"]);
    if (json.contains("selected")) session.selected = kept_item(json["selected"]);
    if (json.contains("measured")) session.measured = range_in(json["measured"]);
    session.search = json.value("search", "");
    session.scroll = json.value("scroll", 0);
    session.notes = json.value("notes", "");
    if (json.contains("theme")) session.dark = json.value("theme", "dark") != "light";
    session.closed_ranks = json.value("closed_ranks", std::vector<std::int32_t>());
    if (json.contains("hosts_open")) session.hosts_open = json["hosts_open"].get<bool>();
    if (json.contains("counters_open")) session.counters_open = json["counters_open"].get<bool>();
    // One that a later version knows is none of this one's: by rank then.
    if (const Result<RankOrder> order = parse_order(json.value("order", "rank")); order.ok())
      session.order = order.value();
    session.order.filter = json.value("filter", "");
    session.order.pinned = json.value("pinned_ranks", std::vector<std::int32_t>());
    session.order.closed = json.value("closed_sections", std::vector<std::string>());
    for (const Json& mark : json.value("marks", Json::array()))
      session.marks.push_back({mark.at("time_ns").get<std::int64_t>(), mark.value("note", "")});
  } catch (const Json::exception& error) {
    return wrong(error.what());
  }
  return session;
}

Status write_session(const std::filesystem::path& path, const Session& session) {
  Json json{{"schema", kSchema}, {"scroll", session.scroll}};
  if (session.dark) json["theme"] = *session.dark ? "dark" : "light";
  if (session.view) json["view"] = {session.view->begin, session.view->end};
  if (session.selected)
    json["selected"] = {{"rank", session.selected->rank},
                        {"lane_role", name_of(session.selected->role)},
                        {"lane", session.selected->lane},
                        {"begin_ns", session.selected->begin},
                        {"end_ns", session.selected->end}};
  if (session.measured) json["measured"] = {session.measured->begin, session.measured->end};
  if (!session.search.empty()) json["search"] = analyzer::to_valid_utf8(session.search);
  json["marks"] = Json::array();
  for (const TimeMark& mark : session.marks)
    json["marks"].push_back({{"time_ns", mark.time}, {"note", analyzer::to_valid_utf8(mark.note)}});
  json["closed_ranks"] = session.closed_ranks;
  if (session.hosts_open) json["hosts_open"] = *session.hosts_open;
  if (session.counters_open) json["counters_open"] = *session.counters_open;
  json["order"] = analyzer::to_valid_utf8(order_text(session.order));
  json["filter"] = analyzer::to_valid_utf8(session.order.filter);
  json["pinned_ranks"] = session.order.pinned;
  json["closed_sections"] = Json::array();
  for (const std::string& key : session.order.closed)
    json["closed_sections"].push_back(analyzer::to_valid_utf8(key));
  json["notes"] = analyzer::to_valid_utf8(session.notes);
  return replace_small_file(path.string(), json.dump(1) + "\n");
}

}  // namespace lockstep::viewer

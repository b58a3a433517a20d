#include "viewer/timeline/describe.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/report/palette.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/unicode.h"
#include "viewer/timeline/draw.h"
#include "viewer/timeline/prevailing_class.h"
#include "viewer/timeline/rank_order.h"

namespace lockstep::viewer {

namespace {

using analyzer::format_duration;

// Names may be 100 kB; nobody reads more than this.
std::string shown_name(std::string_view name) {
  constexpr std::size_t kMost = 400;
  return analyzer::fit(analyzer::printable(name.substr(0, 4 * kMost)), kMost);
}

std::int64_t clipped(std::uint64_t length) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(length, std::numeric_limits<std::int64_t>::max()));
}

std::string instant(const Scene& scene, Nanoseconds time) {
  const Nanoseconds origin = scene.timeline().origin;
  if (time < origin) return "−" + format_count(clipped(distance(time, origin))) + " ns";
  return format_count(clipped(distance(origin, time))) + " ns";
}

void add_interval(const Scene& scene, Nanoseconds begin, Nanoseconds end, Description& description) {
  description.facts.push_back({"begin", instant(scene, begin)});
  description.facts.push_back({"end", instant(scene, end)});
  description.facts.push_back({"duration", exact_duration(clipped(distance(begin, end)))});
}

void add_operation(const Scene& scene, const RankData& data, const analyzer::Activity& activity,
                   Description& description) {
  if (activity.communication >= data.communications.size()) return;
  const analyzer::Communication& communication = data.communications[activity.communication];
  description.facts.push_back({"operation", trace::to_string(communication.operation)});
  if (communication.group < scene.contents().groups.size()) {
    const analyzer::JobGroup& group = scene.contents().groups[communication.group];
    description.facts.push_back(
        {"group", shown_name(group.description.empty() ? group.name : group.description)});
  }
  if (communication.sequence != analyzer::kNoSequence) {
    description.facts.push_back({"sequence", format_count(communication.sequence)});
  }
  if (communication.bytes >= 0) {
    description.facts.push_back(
        {"bytes", fmt::format("{} = {} B", analyzer::format_bytes(communication.bytes),
                              format_count(communication.bytes))});
  }
  if (communication.peer != analyzer::kNoRank) {
    description.facts.push_back({"peer", fmt::format("rank {}", communication.peer)});
  }
}

Description describe_activity(const Scene& scene, const Item& item, std::uint32_t index) {
  const RankContents& trace = scene.rank(item.rank);
  const RankData& data = scene.data(item.rank);
  const analyzer::Activity& activity = data.activities[index];
  Description description;
  description.title = shown_name(scene.string(activity.name));
  description.facts.push_back({"what", item_kind(scene, item)});
  description.facts.push_back({"rank", fmt::format("{}", trace.rank)});
  if (activity.lane < trace.lanes.size())
    description.facts.push_back({"lane", shown_name(trace.lanes[activity.lane].name)});
  add_interval(scene, activity.begin, activity.end, description);
  if (activity.step < data.step_marks.size()) {
    description.facts.push_back({"step", fmt::format("{}", data.step_marks[activity.step].number)});
  }
  if (activity.launch_begin != trace::kUnknownTime) {
    description.facts.push_back({"launch", instant(scene, activity.launch_begin)});
    if (activity.begin >= activity.launch_begin) {
      description.facts.push_back(
          {"after launch", format_duration(clipped(distance(activity.launch_begin, activity.begin)))});
    }
  }
  add_operation(scene, data, activity, description);
  return description;
}

Description describe_segment(const Scene& scene, const Item& item, std::uint32_t index) {
  const analyzer::CauseSegment& segment = scene.segments(item.rank)[index];
  Description description;
  description.title = cause_label(scene, item.rank, segment.cause);
  description.facts.push_back({"what", "cause of this stretch"});
  description.facts.push_back({"rank", fmt::format("{}", scene.timeline().ranks[item.rank].rank)});
  add_interval(scene, segment.begin, segment.end, description);
  return description;
}

Description describe_host(const Scene& scene, const Item& item, std::uint32_t index) {
  const RankContents& trace = scene.rank(item.rank);
  const analyzer::HostRange& range = scene.data(item.rank).host_ranges[index];
  Description description;
  description.title = shown_name(scene.string(range.name));
  description.facts.push_back({"what", item_kind(scene, item)});
  description.facts.push_back({"rank", fmt::format("{}", trace.rank)});
  if (range.lane < trace.lanes.size())
    description.facts.push_back({"thread", shown_name(trace.lanes[range.lane].name)});
  add_interval(scene, range.begin, range.end, description);
  description.facts.push_back({"depth", fmt::format("{}", range.depth)});
  return description;
}

}  // namespace

const char* cause_label(const Scene& scene, std::size_t rank, analyzer::Cause cause) {
  const analyzer::RankReport* const report = scene.rank_report(rank);
  return cause_label(cause, report != nullptr && report->measures.waits_known);
}

const char* cause_label(analyzer::Cause cause, bool waits_known) {
  const bool undecided = cause == analyzer::Cause::transfer && !waits_known;
  return undecided ? "communication" : analyzer::style_of(cause).label;
}

std::string evidence_in_words(std::string_view code) {
  if (code == "sequence") return "its group and sequence number";
  if (code == "function_sequence") return "its group, operation and sequence number";
  if (code == "order") return "its group, operation and order: the k-th on each rank";
  if (code == "order_all_ranks")
    return "its operation and order, all ranks taken as one group: the trace names none";
  if (code == "none") return "nothing: its group is not known, so it stands alone";
  if (code == "rejected") return "nothing: a match was impossible, so it stands alone";
  return std::string(code);
}

std::string exact_duration(std::int64_t ns) {
  if (ns > -1000 && ns < 1000) return format_count(ns) + " ns";
  return fmt::format("{} = {} ns", format_duration(ns), format_count(ns));
}

std::string item_kind(const Scene& scene, const Item& item) {
  const TrackLane& lane = scene.timeline().ranks[item.rank].lanes[item.lane];
  const std::uint32_t index = lane.rows[item.row].item[item.at];
  if (lane.role == LaneRole::causes)
    return cause_label(scene, item.rank, scene.segments(item.rank)[index].cause);
  const RankData& data = scene.data(item.rank);
  if (lane.role == LaneRole::host) {
    switch (data.host_ranges[index].kind) {
      case analyzer::HostKind::module:
        return "module";
      case analyzer::HostKind::operation:
        return "operator";
      case analyzer::HostKind::python_place:
        return "where Python was, by looks at its stack";
      case analyzer::HostKind::step:
        return "step, on the host";
      case analyzer::HostKind::data_loading:
        return "data loading";
      case analyzer::HostKind::launch:
        return "launch call";
      case analyzer::HostKind::other:
        break;
    }
    return "host range";
  }
  return analyzer::to_string(data.activities[index].activity_class);
}

Description describe(const Scene& scene, const Item& item) {
  const TrackLane& lane = scene.timeline().ranks[item.rank].lanes[item.lane];
  const std::uint32_t index = lane.rows[item.row].item[item.at];
  switch (lane.role) {
    case LaneRole::causes:
      return describe_segment(scene, item, index);
    case LaneRole::host:
      return describe_host(scene, item, index);
    case LaneRole::compute:
    case LaneRole::communication:
    case LaneRole::counter:
      break;
  }
  return describe_activity(scene, item, index);
}

Description summarize(const Scene& scene, const Item& item) {
  const TrackLane& lane = scene.timeline().ranks[item.rank].lanes[item.lane];
  const Row& row = lane.rows[item.row];
  Description description;
  description.title = analyzer::fit(describe(scene, item).title, 60);
  const std::string kind = item_kind(scene, item);
  const std::string rank = fmt::format("rank {}", scene.timeline().ranks[item.rank].rank);
  description.facts.push_back({rank, kind});
  description.facts.push_back(
      {"duration", exact_duration(clipped(distance(row.begin[item.at], row.end[item.at])))});
  description.facts.push_back({"begin", instant(scene, row.begin[item.at])});
  const auto activity = scene.activity_of(item);
  const auto index = scene.collective_of(item);
  if (!activity || !index) return description;
  const analyzer::CollectiveReport collective = scene.collective(*index);
  for (const analyzer::CollectiveRank& part : collective.ranks) {
    if (part.rank != scene.timeline().ranks[item.rank].rank || part.activity != *activity) continue;
    if (collective.waits_known()) description.facts.push_back({"waits", format_duration(part.wait_ns)});
    description.facts.push_back(
        {collective.waits_known() ? "moves data" : cause_label(analyzer::Cause::transfer, false),
         format_duration(part.transfer_ns)});
  }
  if (collective.last_arriver) {
    description.facts.push_back({"last arriver", fmt::format("rank {}", *collective.last_arriver)});
  }
  if (collective.bytes) description.facts.push_back({"size", analyzer::format_bytes(*collective.bytes)});
  return description;
}

Description describe_counter(const Scene& scene, std::uint32_t rank, const RowPlace& place,
                             Nanoseconds time) {
  const RankTracks& tracks = scene.timeline().ranks[rank];
  const TrackLane& lane = tracks.lanes[place.lane];
  const CounterSeries& counter = lane.counter;
  Description description;
  description.title = shown_name(lane.label);
  description.facts.push_back({"rank", fmt::format("{}", tracks.rank)});
  const std::optional<double> value = value_at(counter.points, time, counter.unit);
  description.facts.push_back({"value", value ? format_value(*value, counter.unit) : analyzer::kAbsent});
  description.facts.push_back({"at", instant(scene, time)});
  const ValueRange own = range_of(counter.points, counter.blocks, 0, counter.points.size());
  description.facts.push_back(
      {"least, most", format_value(own.low, counter.unit) + ", " + format_value(own.high, counter.unit)});
  return description;
}

Description describe_fold(const Scene& scene, std::uint32_t rank, const RowPlace& place,
                          const FoldedBox& box) {
  const RankTracks& tracks = scene.timeline().ranks[rank];
  const TrackLane& lane = tracks.lanes[place.lane];
  Description description;
  description.title = format_count(box.count) + " events, too short to show apart";
  description.facts.push_back({"rank", fmt::format("{}", tracks.rank)});
  add_interval(scene, box.begin, box.end, description);
  if (lane.role != LaneRole::causes) {
    description.facts.push_back(
        {"busy", analyzer::format_share(density(lane.rows[place.row].columns(), box))});
    if (lane.role == LaneRole::host) return description;
    constexpr int kSamples = 64;
    const auto most = PrevailingClass(lane.rows[place.row], scene.data(rank).activities, box)
                          .within(box.begin, box.end, kSamples);
    if (most) description.facts.push_back({"mostly", analyzer::to_string(*most)});
    return description;
  }
  description.title = format_count(box.count) + " causes in turn, too short to show apart";
  const CauseTimes times = tracks.cause_sums.within(box.begin, box.end);
  for (std::size_t cause = 0; cause < times.size(); ++cause) {
    if (times[cause] == 0) continue;
    description.facts.push_back(
        {cause_label(scene, rank, static_cast<analyzer::Cause>(cause)),
         fmt::format("{}  {}", format_duration(clipped(times[cause])),
                     analyzer::format_share(clipped(times[cause]), clipped(distance(box.begin, box.end))))});
  }
  return description;
}

Description describe_standing(const Scene& scene, std::uint32_t rank) {
  const RankStanding& standing = scene.standing(rank);
  Description description;
  description.title = fmt::format("rank {}", scene.timeline().ranks[rank].rank);
  if (!standing.brief.empty()) description.title += " · " + standing.brief;
  description.facts.push_back({"state", standing.text});
  if (!scene.rank(rank).host.empty())
    description.facts.push_back({"host", shown_name(scene.rank(rank).host)});
  return description;
}

namespace {

// Of its group, those without a part in it; none where the group's ranks are not known, or could be
// another's.
std::vector<std::int32_t> ranks_without_record(const Scene& scene,
                                               const analyzer::CollectiveReport& collective) {
  std::vector<std::int32_t> without;
  for (const analyzer::JobGroup& group : scene.contents().groups) {
    if (group.name != collective.group_name || group.ranks.empty()) continue;
    const auto is_member = [&group](const analyzer::CollectiveRank& part) {
      return std::ranges::binary_search(group.ranks, part.rank);
    };
    if (!std::ranges::all_of(collective.ranks, is_member)) continue;
    if (!without.empty()) return {};
    for (const std::int32_t rank : group.ranks)
      if (std::ranges::find(collective.ranks, rank, &analyzer::CollectiveRank::rank) ==
          collective.ranks.end())
        without.push_back(rank);
  }
  return without;
}

std::string participants(const Scene& scene, const analyzer::CollectiveReport& collective) {
  const std::string count = format_count(static_cast<std::int64_t>(collective.ranks.size()));
  if (!collective.partial) return count;
  const std::vector<std::int32_t> without = ranks_without_record(scene, collective);
  return without.empty() ? count + " (some have no record)"
                         : fmt::format("{}; no record of {} {}", count,
                                       without.size() == 1 ? "rank" : "ranks", list_of_ranks(without));
}

}  // namespace

Description describe_collective(const Scene& scene, std::uint32_t index) {
  const analyzer::CollectiveReport collective = scene.collective(index);
  Description description;
  description.title =
      fmt::format("collective {} · {}", collective.id, trace::to_string(collective.operation));
  auto& facts = description.facts;
  // What is asked first of an operation: whom it waited for.
  if (collective.waits_known()) {
    facts.push_back(
        {"last arriver", collective.last_arriver
                             ? fmt::format("rank {}, {} after the one before{}", *collective.last_arriver,
                                           format_duration(collective.last_arriver_margin_ns.value_or(0)),
                                           collective.partial ? ", of those with a record" : "")
                         : collective.unfinished   ? std::string("nobody: not all came")
                         : collective.wait_ns == 0 ? std::string("nobody waited")
                                                   : std::string("nobody: within clock error")});
    facts.push_back({"waited, all ranks", exact_duration(collective.wait_ns)});
  } else {
    facts.push_back({"waited", "not known: no other rank has a record of it"});
  }
  if (!collective.group_name.empty()) facts.push_back({"group", shown_name(collective.group_name)});
  facts.push_back({"ranks", participants(scene, collective)});
  if (collective.sequence) facts.push_back({"sequence", format_count(*collective.sequence)});
  if (collective.step) facts.push_back({"step", format_count(*collective.step)});
  if (collective.bytes) {
    facts.push_back({"bytes", fmt::format("{} = {} B", analyzer::format_bytes(*collective.bytes),
                                          format_count(*collective.bytes))});
  }
  if (collective.data_type != analyzer::DataType::unknown)
    facts.push_back({"type", trace::to_string(collective.data_type)});
  if (!collective.evidence.empty())
    facts.push_back({"matched by", evidence_in_words(collective.evidence), collective.evidence});
  if (collective.busbw_gbps)
    facts.push_back({"busbw from own start", analyzer::format_bandwidth(collective.busbw_gbps)});
  if (collective.busbw_wire_gbps) {
    facts.push_back({"busbw from last arrival", analyzer::format_bandwidth(collective.busbw_wire_gbps)});
  }
  return description;
}

const char* transfer_title(bool waits_known) {
  return waits_known ? "moved" : cause_label(analyzer::Cause::transfer, false);
}

std::vector<CollectiveRow> collective_rows(const Scene& scene, std::uint32_t index) {
  const analyzer::CollectiveReport collective = scene.collective(index);
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t longest = 1;
  for (const analyzer::CollectiveRank& part : collective.ranks) {
    first = std::min(first, part.arrival_ns);
    longest = std::max(longest, part.wait_ns + part.transfer_ns);
  }
  std::vector<CollectiveRow> rows;
  for (const analyzer::CollectiveRank& part : collective.ranks) {
    CollectiveRow row;
    row.rank_index = scene.index_of(part.rank).value_or(analyzer::kNone);
    row.activity = part.activity;
    row.rank = fmt::format("{}", part.rank);
    row.arrival = "+" + format_duration(part.arrival_ns - first);
    row.wait = collective.waits_known() ? format_duration(part.wait_ns) : analyzer::kAbsent;
    row.transfer = format_duration(part.transfer_ns);
    row.last = collective.last_arriver == part.rank;
    row.wait_share = static_cast<double>(part.wait_ns) / static_cast<double>(longest);
    row.transfer_share = static_cast<double>(part.transfer_ns) / static_cast<double>(longest);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace lockstep::viewer

// The second half of RankBuilder: what is done once the whole file was read.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "analyzer/import/kineto/decimal_time.h"
#include "analyzer/import/kineto/json_text.h"
#include "analyzer/import/kineto/module_places.h"
#include "analyzer/import/kineto/rank_builder.h"
#include "analyzer/import/rank/file_name.h"
#include "analyzer/import/rank/names.h"
#include "analyzer/import/rank/settle_communication.h"
#include "analyzer/import/rank/training_mark.h"
#include "base/counts.h"

namespace lockstep::analyzer::kineto {
namespace {

constexpr std::int64_t kYear2001Ns = 978'307'200'000'000'000;
constexpr std::int64_t kYear2100Ns = 4'102'444'800'000'000'000;

std::optional<std::int32_t> number_in(simdjson::dom::element object, const char* key) {
  simdjson::dom::element value;
  if (object[key].get(value) != simdjson::SUCCESS) return std::nullopt;
  const std::optional<std::int64_t> number = whole_number(simdjson::minify(value));
  if (!number || *number < 0 || *number > INT32_MAX) return std::nullopt;
  return static_cast<std::int32_t>(*number);
}

std::string text_in(simdjson::dom::element object, const char* key) {
  std::string_view text;
  if (object[key].get(text) != simdjson::SUCCESS) return {};
  return std::string(text);
}

}  // namespace

void RankBuilder::member(std::string_view key, std::string_view json) {
  if (key == "baseTimeNanoseconds") {
    base_time_ns_ = whole_number(json);
    return;
  }
  if (key == "traceEvents") {
    import_.warn("not_an_array",
                 fmt::format("{}: traceEvents is not an array; it is ignored", import_.trace.file));
    return;
  }
  cost_.setting(key, json);
  if (key != "distributedInfo") return;
  simdjson::dom::parser parser;
  simdjson::dom::element info;
  if (parser.parse(simdjson::padded_string(json)).get(info) != simdjson::SUCCESS || !info.is_object()) {
    import_.warn("distributed_info",
                 fmt::format("{}: distributedInfo can't be read; rank and world size are unknown",
                             import_.trace.file));
    return;
  }
  if (const auto rank = number_in(info, "rank")) {
    import_.trace.rank = *rank;
    import_.rank_known = true;
  }
  if (const auto world = number_in(info, "world_size")) import_.world_size = *world;
  simdjson::dom::array groups;
  if (info["pg_config"].get(groups) != simdjson::SUCCESS) return;
  for (const simdjson::dom::element group : groups) {
    simdjson::dom::element ranks;
    std::string name = text_in(group, "pg_name");
    if (!name.empty() && group["ranks"].get(ranks) == simdjson::SUCCESS)
      groups_.declare(std::move(name), parse_ranks(simdjson::minify(ranks)));
  }
}

void RankBuilder::join_launches() {
  launches_.close();
  ranges_.close();
  for (Activity& activity : import_.trace.activities) {
    const std::int64_t correlation = std::exchange(activity.launch_begin, kUnknownTime);
    if (correlation == kUnknownTime) continue;
    const Launch* launch = launches_.find(correlation);
    if (launch == nullptr) continue;
    activity.launch_begin = launch->begin;
    activity.launch_end = launch->end;
    if (activity.communication == kNone) continue;
    Communication& communication = import_.trace.communications[activity.communication];
    if (communication.has_metadata) continue;
    const Operation around = ranges_.operation_at(launch->thread, launch->begin);
    if (around != Operation::unknown) communication.operation = around;
  }
  launches_ = {};
}

void RankBuilder::resolve_communications(const std::vector<GroupTable::Resolved>& groups) {
  std::vector<std::uint32_t> ids;
  ids.reserve(groups.size());
  for (const auto& group : groups) ids.push_back(import_.intern_group(group.group));
  for (Activity& activity : import_.trace.activities) {
    if (activity.communication == kNone) continue;
    Communication& communication = import_.trace.communications[activity.communication];
    const Operation operation = communication.operation;
    if (is_point_to_point(operation)) {
      activity.activity_class = Class::p2p;
    } else if (communication.peer != kNoRank && communication.group != kNone) {
      const auto& order = groups[communication.group].group_order;
      const auto root = static_cast<std::size_t>(communication.peer);
      communication.peer = root < order.size() ? order[root] : kNoRank;
    }
    if (communication.group != kNone) communication.group = ids[communication.group];
  }
}

// One rank drives one device. More devices in a file are several ranks merged into one, or stray work: only
// one is kept.
void RankBuilder::drop_other_devices() {
  // Activities that name no device are those of the one that the others name.
  std::map<std::int64_t, std::uint64_t> activities;  // by device
  for (const DeviceLane& lane : lanes_)
    if (lane.activities > 0 && lane.device >= 0) activities[lane.device] += lane.activities;
  if (activities.empty()) return;
  const auto most = std::max_element(activities.begin(), activities.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  import_.trace.device = fmt::format("cuda:{}", most->first);
  if (activities.size() == 1) return;
  std::vector<std::string> parts;
  parts.reserve(activities.size());
  for (const auto& [device, count] : activities) parts.push_back(fmt::format("device {}: {}", device, count));
  const auto dropped = std::erase_if(import_.trace.activities, [&](const Activity& activity) {
    const std::int64_t device = lanes_[activity.lane].device;
    return activity.activity_class != Class::sync && device >= 0 && device != most->first;
  });
  import_.trace.dropped_events += dropped;
  import_.warn(
      "several_devices",
      fmt::format("{}: activities of several devices in one file ({}); only device {} is read, {} left out",
                  import_.trace.file, fmt::join(parts, ", "), most->first, dropped));
}

// Only one device is left, so that a stream is a lane (waits for the device name none: they go by their
// stream too). Threads become lanes if a kept range stands on them.
void RankBuilder::name_lanes() {
  RankTrace& trace = import_.trace;
  std::map<std::int64_t, std::uint32_t> lane_of_stream;
  for (const Activity& activity : trace.activities) lane_of_stream.emplace(lanes_[activity.lane].stream, 0);
  for (auto& [stream, lane] : lane_of_stream) {
    lane = static_cast<std::uint32_t>(trace.lanes.size());
    trace.lanes.push_back({trace::LaneKind::device_stream, static_cast<std::uint64_t>(stream),
                           fmt::format("stream {}", stream)});
  }
  std::vector<std::uint32_t> lane_of;
  for (const DeviceLane& lane : lanes_) lane_of.push_back(lane_of_stream[lane.stream]);
  for (Activity& activity : trace.activities) activity.lane = lane_of[activity.lane];
  std::vector<std::uint32_t> thread_lane_of(threads_.size(), kNone);
  for (HostRange& range : trace.host_ranges) {
    std::uint32_t& lane = thread_lane_of[range.lane];
    if (lane == kNone) {
      lane = static_cast<std::uint32_t>(trace.lanes.size());
      trace.lanes.push_back(threads_.lane(range.lane));
    }
    range.lane = lane;
  }
}

// The ranks that are in all groups of which the file holds operations: it is one of them.
std::optional<std::vector<std::int32_t>> possible_ranks(const std::vector<GroupTable::Resolved>& groups) {
  std::optional<std::vector<std::int32_t>> possible;
  for (const GroupTable::Resolved& group : groups) {
    if (group.group.ranks.empty()) continue;
    if (!possible) {
      possible = group.group.ranks;
      continue;
    }
    std::vector<std::int32_t> both;
    std::set_intersection(possible->begin(), possible->end(), group.group.ranks.begin(),
                          group.group.ranks.end(), std::back_inserter(both));
    possible = std::move(both);
  }
  return possible && !possible->empty() ? possible : std::nullopt;
}

// The number in the name is the process's: the profiler calls files so, and the events say no other.
bool names_its_process(const RankImport& import, bool says_rank) {
  const std::optional<HandlerName> name = handler_file_name(import.trace.file);
  return name && (import.process == name->process || (import.process == 0 && !says_rank));
}

// A number in the name is the rank where "rank" or "worker" stands before it, and else (it may be a step, a
// date) where the content agrees, or says nothing and the number is small: a guess then, which may be taken
// back when all files are known (workers.h).
void RankBuilder::settle_rank(const std::vector<GroupTable::Resolved>& groups) {
  if (import_.rank_known) return;
  const std::string& file = import_.trace.file;
  const auto take = [&](std::int32_t rank, std::string_view from) {
    import_.trace.rank = rank;
    import_.rank_known = true;
    import_.warn(
        "rank_from_file_name",
        fmt::format("{}: no distributedInfo.rank in the file; taken as rank {} {}", file, rank, from));
  };
  const std::optional<std::vector<std::int32_t>> possible = possible_ranks(groups);
  if (possible && possible->size() > 1) import_.possible_ranks = *possible;
  std::optional<NumberInName> named = number_in_file_name(file);
  if (named && names_its_process(import_, named->says_rank)) named.reset();
  if (named) {
    const bool fits = !possible || std::binary_search(possible->begin(), possible->end(), named->number);
    const bool in_world = import_.world_size == 0 || named->number < import_.world_size;
    const bool believable = named->says_rank ? named->number < kMaxRanks
                                             : possible.has_value() || named->number < kMaxUnsaidRanks;
    if (fits && in_world && believable) {
      import_.rank_is_guessed = !named->says_rank && !(possible && possible->size() == 1);
      return take(named->number, "from its name");
    }
  }
  if (possible && possible->size() == 1)
    take(possible->front(), "as the only one that is in all of its groups");
}

void RankBuilder::settle_clock() {
  RankTrace& trace = import_.trace;
  trace.resolution_ns = fractions_ ? 1 : 1000;
  trace.clock.evidence = "assumed";
  if (base_time_ns_) {
    import_.realtime_of_zero = base_time_ns_;
  } else if (!trace.activities.empty() && trace.activities.front().begin > kYear2001Ns &&
             trace.activities.front().begin < kYear2100Ns) {
    import_.realtime_of_zero = 0;  // older files count from 1970
  }
  // Without it, the files of one job are taken to share whatever clock it was.
  import_.clock_name = import_.realtime_of_zero ? "wall clock" : "unknown";
  import_.clock_zero = import_.realtime_of_zero.value_or(0);
}

void RankBuilder::warn_of_losses() {
  const std::uint64_t dropped =
      without_time_ + without_duration_ + negative_duration_ + overflowing_duration_;
  import_.trace.dropped_events += dropped;
  if (dropped > 0) {
    std::vector<std::string> parts;
    const auto part = [&](std::uint64_t count, const char* what) {
      if (count > 0) parts.push_back(fmt::format("{} {}", count, what));
    };
    part(without_time_, "without a usable ts");
    part(without_duration_, "without a dur");
    part(negative_duration_, "with a negative dur");
    part(overflowing_duration_, "whose dur overflows");
    import_.warn("events_dropped",
                 fmt::format("{}: {} dropped: {}", import_.trace.file,
                             format_plural(dropped, "event was", "events were"), fmt::join(parts, ", ")));
  }
  if (begin_end_events_ > 0)
    import_.warn("begin_end_events",
                 fmt::format("{}: {} of phase B or E, which Kineto does not write; not read",
                             import_.trace.file, format_plural(begin_end_events_, "event is", "events are")));
}

RankImport RankBuilder::take() {
  const std::vector<GroupTable::Resolved> groups = groups_.resolve(import_.world_size);
  settle_rank(groups);
  join_launches();
  resolve_communications(groups);
  drop_other_devices();
  name_lanes();
  if (wants_operators_) import_.trace.device = "cpu";
  operators_.give(threads_, import_.trace);
  if (std::string cost = cost_.message(); !cost.empty())
    import_.warn("profiler_overhead", "the profile was " + cost);
  import_.trace.profiler_ns = cost_.overhead_ns();
  warn_of_losses();
  if (!training_.empty()) take_training_mark(unescape(training_), import_);
  settle_communication(import_, options_.communication);
  finish(import_);
  name_modules_by_place(import_);
  give_passes(std::move(passes_), import_.trace);
  settle_clock();
  return std::move(import_);
}

}  // namespace lockstep::analyzer::kineto

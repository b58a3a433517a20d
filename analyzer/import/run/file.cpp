#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/import/rank/names.h"
#include "analyzer/import/run/damage.h"
#include "analyzer/import/run/device.h"
#include "analyzer/import/run/issues.h"
#include "analyzer/import/run/losses.h"
#include "analyzer/import/run/run.h"
#include "trace/reader.h"

namespace lockstep::analyzer::run {
namespace {

using trace::LaneKind;
using trace::Reader;
using trace::Selection;

class FileImport {
 public:
  FileImport(const Reader& reader, const std::string& file, const Options& options)
      : reader_(reader), options_(options) {
    import_.trace.file = file;
    import_.source = "lockstep";
    import_.trace.resolution_ns = 1;
  }

  RankImport run() {
    read_metadata();
    read_lanes();
    read_groups();
    read_clock();
    read_launches();
    read_issues();
    read_activities();
    issues_.join(import_);
    read_collectives();
    read_counters();
    read_steps();
    read_host_ranges();
    read_unfinished();
    read_drops();
    find_losses(reader_, damage_, import_);
    warn_of_damage(reader_, damage_, import_);
    finish(import_);
    return std::move(import_);
  }

 private:
  std::string metadata(const char* key) const {
    const auto found = reader_.metadata().find(key);
    return found == reader_.metadata().end() ? std::string() : found->second;
  }

  std::optional<std::int32_t> number(const char* key) const {
    const std::string text = metadata(key);
    std::int32_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value < 0) return std::nullopt;
    return value;
  }

  // Strings of a file are interned on first use: host ranges that are not kept should not bring theirs along.
  std::uint32_t name(trace::StringId id) {
    const auto [where, fresh] = names_.emplace(id, 0);
    if (fresh) where->second = import_.strings.intern(reader_.string(id));
    return where->second;
  }

  template <class E>
  void read(std::vector<E>& events) {
    const Status status = reader_.read(Selection{}, events);
    if (!status.ok()) damage_.insert(status.error().message);
    if constexpr (requires(E event) { event.lane; }) {
      for (E& event : events) event.lane = lane_of(event.lane);
    }
  }

  // Sources of one process may each have described the same thread.
  trace::LaneId lane_of(trace::LaneId lane) const { return lane < lanes_.size() ? lanes_[lane] : lane; }

  void read_metadata() {
    if (const auto rank = number("rank")) {
      import_.trace.rank = *rank;
      import_.rank_known = true;
    }
    import_.world_size = number("world_size").value_or(0);
    import_.trace.host = metadata("host");
    import_.clock_name = fmt::format("monotonic clock of {}", import_.trace.host);
    import_.trace.clock.evidence = import_.trace.host.empty() ? "assumed" : "same host";
  }

  void read_lanes() {
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::string>, trace::LaneId>
        threads;  // by process, thread, name  // (process, thread)
    for (const trace::Lane& lane : reader_.lanes()) {
      const auto id = static_cast<trace::LaneId>(lanes_.size());
      const bool is_thread = lane.kind == LaneKind::host_thread && lane.handle != 0;
      lanes_.push_back(
          is_thread ? threads.try_emplace({lane.process, lane.handle, lane.name}, id).first->second : id);
      std::string text = lane.name;
      if (text.empty()) {
        const char* kind = lane.kind == LaneKind::device_stream ? "stream" : "thread";
        text = fmt::format("{} {}", kind, lane.handle);
      }
      import_.trace.lanes.push_back({lane.kind, lane.handle, std::move(text)});
    }
    import_.trace.device = device_of(reader_.lanes());
  }

  void read_groups() {
    for (const trace::Group& group : reader_.groups()) {
      std::vector<std::int32_t> ranks = group.ranks;
      std::sort(ranks.begin(), ranks.end());
      groups_.push_back(import_.intern_group(
          {group.name, group.description, std::move(ranks), std::max(group.size, 0), group.own_rank}));
    }
  }

  void read_clock() {
    std::vector<trace::ClockSnapshot> snapshots;
    read(snapshots);
    for (const trace::ClockSnapshot& snapshot : snapshots) {
      std::int64_t zero = 0;
      if (snapshot.realtime == kUnknownTime || snapshot.time == kUnknownTime ||
          __builtin_sub_overflow(snapshot.realtime, snapshot.time, &zero))
        continue;
      import_.realtime_of_zero = zero;
      break;
    }
    for (const trace::ClockSnapshot& snapshot : snapshots)
      if (sound(snapshot.time, snapshot.time))
        import_.trace.ending.recorded_until = std::max(import_.trace.ending.recorded_until, snapshot.time);
  }

  // Whether the interval can be kept; counts those that can't.
  bool sound(Nanoseconds begin, Nanoseconds end) {
    if (begin >= -kLatest && end <= kLatest && begin <= end) return true;
    ++unsound_;
    return false;
  }

  void read_launches() {
    std::vector<trace::ApiCall> calls;
    read(calls);
    for (const trace::ApiCall& call : calls) {
      if (!sound(call.begin, call.end)) continue;
      if (call.correlation != trace::kNoCorrelation) {
        const Launch launch{call.begin, call.end, call.lane};
        const auto [where, fresh] = launches_.emplace(call.correlation, launch);
        if (!fresh && call.begin < where->second.begin) where->second = launch;
      }
      if (options_.keep_host_ranges)
        import_.trace.host_ranges.push_back(
            {call.begin, call.end, name(call.name), call.lane, 0, HostKind::launch});
    }
  }

  void set_launch(trace::CorrelationId correlation, Activity& activity) const {
    const auto launch = correlation == trace::kNoCorrelation ? launches_.end() : launches_.find(correlation);
    if (launch != launches_.end()) {
      activity.launch_begin = launch->second.begin;
      activity.launch_end = launch->second.end;
    } else if (runs_on_its_own(import_.trace.lanes[activity.lane].kind)) {
      activity.launch_begin = activity.launch_end = activity.begin;
    }
  }

  // A thread computes what it computes by itself; and communicates by itself in a program that issues
  // nothing.
  bool runs_on_its_own(LaneKind kind) const {
    return kind == LaneKind::compute_thread || (kind == LaneKind::communication && launches_.empty());
  }

  Activity activity_of(Nanoseconds begin, Nanoseconds end, trace::StringId id, trace::LaneId lane) {
    Activity activity;
    activity.begin = begin;
    activity.end = end;
    activity.name = name(id);
    activity.lane = lane;
    return activity;
  }

  void add_communication(Activity activity, Communication communication) {
    activity.communication = static_cast<std::uint32_t>(import_.trace.communications.size());
    import_.trace.communications.push_back(communication);
    import_.trace.activities.push_back(activity);
  }

  void read_activities() {
    std::vector<trace::DeviceActivity> events;
    read(events);
    import_.trace.activities.reserve(events.size() + reader_.count(trace::EventKind::collective));
    for (const trace::DeviceActivity& event : events) {
      if (!sound(event.begin, event.end)) continue;
      Activity activity = activity_of(event.begin, event.end, event.name, event.lane);
      activity.activity_class = class_of(event.activity_class);
      set_launch(event.correlation, activity);
      if (activity.activity_class == Class::collective || activity.activity_class == Class::p2p) {
        Communication communication;
        communication.operation = operation_in_name(reader_.string(event.name));
        const auto launch = launches_.find(event.correlation);
        if (event.correlation != trace::kNoCorrelation && launch != launches_.end())
          issues_.add_kernel({static_cast<std::uint32_t>(import_.trace.activities.size()),
                              launch->second.lane, launch->second.begin, launch->second.end});
        issues_.count_kernel();
        add_communication(activity, communication);
      } else {
        if (activity.activity_class == Class::compute) activity.compute = computation(event);
        import_.trace.activities.push_back(activity);
      }
    }
  }

  // Index of what the event says of its computation; kNone where it says nothing.
  std::uint32_t computation(const trace::DeviceActivity& event) {
    Computation computation{event.layer, event.microbatch, Pass::other};
    if (event.pass <= Pass::optimizer) computation.pass = event.pass;
    if (computation.pass == Pass::other) {
      const auto [where, fresh] = passes_.emplace(event.name, Pass::other);
      if (fresh) where->second = pass_in_name(reader_.string(event.name));
      computation.pass = where->second;
    }
    if (computation == Computation{}) return kNone;
    const auto [where, fresh] =
        computations_.emplace(computation, static_cast<std::uint32_t>(import_.trace.computations.size()));
    if (fresh) import_.trace.computations.push_back(computation);
    return where->second;
  }

  void read_issues() {
    std::vector<trace::CollectiveIssue> events;
    read(events);
    for (const trace::CollectiveIssue& event : events) {
      if (!sound(event.begin, event.end)) continue;
      issues_.add_issue(event, event.lane, event.group < groups_.size() ? groups_[event.group] : kNone);
    }
  }

  // Points of one counter stand in one lane, in the order of the threads that told them.
  void read_counters() {
    std::vector<trace::Counter> events;
    read(events);
    std::map<std::string, std::size_t> track_of;
    for (const trace::Counter& event : events) {
      if (!sound(event.time, event.time) || event.lane >= import_.trace.lanes.size()) continue;
      const std::string& counter = import_.trace.lanes[event.lane].name;
      const auto [where, fresh] = track_of.emplace(counter, import_.trace.counters.size());
      if (fresh) import_.trace.counters.push_back({counter, {}});
      import_.trace.counters[where->second].points.push_back({event.time, event.value});
    }
    for (CounterTrack& track : import_.trace.counters)
      std::stable_sort(track.points.begin(), track.points.end(),
                       [](const CounterPoint& a, const CounterPoint& b) { return a.time < b.time; });
  }

  void read_collectives() {
    std::vector<trace::Collective> events;
    read(events);
    for (const trace::Collective& event : events) {
      if (!sound(event.begin, event.end)) continue;
      Activity activity = activity_of(event.begin, event.end, event.name, event.lane);
      activity.activity_class = is_point_to_point(event.operation) ? Class::p2p : Class::collective;
      set_launch(event.correlation, activity);
      Communication communication;
      communication.operation = event.operation;
      communication.data_type = event.data_type;
      communication.has_metadata = event.group != trace::kNoGroup;
      if (event.group != trace::kNoGroup && event.group < groups_.size())
        communication.group = groups_[event.group];
      communication.peer = event.peer;
      communication.sequence = event.sequence;
      communication.bytes = event.bytes <= INT64_MAX ? static_cast<std::int64_t>(event.bytes) : -1;
      add_communication(activity, communication);
    }
  }

  void read_steps() {
    std::vector<trace::Step> events;
    read(events);
    for (const trace::Step& event : events) {
      if (!sound(event.begin, event.end)) continue;
      import_.trace.steps.push_back({event.number, event.begin, event.end});
      steps_.emplace(event.lane, event.begin, event.end);
    }
  }

  HostKind kind_of(trace::StringId range_name, trace::StringId domain, trace::LaneId lane, Nanoseconds begin,
                   Nanoseconds end) {
    const bool ours = reader_.string(domain) == "lockstep";
    if (ours && reader_.string(range_name) == "data_loading") return HostKind::data_loading;
    if (ours && steps_.contains({lane, begin, end})) return HostKind::step;
    const auto [where, fresh] = loads_data_.emplace(range_name, false);
    if (fresh) where->second = names_data_loading(reader_.string(range_name));
    return where->second ? HostKind::data_loading : HostKind::other;
  }

  void read_host_ranges() {
    const Status status = reader_.read<trace::HostRange>(Selection{}, [this](const trace::HostRange& event) {
      const HostKind kind = kind_of(event.name, event.domain, lane_of(event.lane), event.begin, event.end);
      if (!sound(event.begin, event.end) || (kind == HostKind::other && !options_.keep_host_ranges)) return;
      import_.trace.host_ranges.push_back(
          {event.begin, event.end, name(event.name), lane_of(event.lane), event.depth, kind});
    });
    if (!status.ok()) damage_.insert(status.error().message);
  }

  // Ranges that were open when recording ended run to the end of the file.
  void read_unfinished() {
    Result<std::vector<trace::OpenRange>> unfinished = reader_.unfinished_ranges();
    if (!unfinished.ok()) {
      damage_.insert(unfinished.error().message);
      return;
    }
    Nanoseconds end = -kLatest;
    for (const trace::ChunkInfo& chunk : reader_.chunks())
      if (chunk.count > 0) end = std::max(end, std::min(chunk.end, kLatest));
    for (const trace::OpenRange& event : unfinished.value()) {
      const trace::LaneId lane = lane_of(event.lane);
      const HostKind kind = kind_of(event.name, event.domain, lane, event.begin, end);
      if (!sound(event.begin, std::max(event.begin, end)) ||
          (kind == HostKind::other && !options_.keep_host_ranges))
        continue;
      import_.trace.host_ranges.push_back(
          {event.begin, std::max(event.begin, end), name(event.name), lane, event.depth, kind});
    }
    read_ending(unfinished.value());
    if (!unfinished.value().empty())
      import_.warn(
          "ranges_unfinished",
          fmt::format(
              "{}: {} still open when recording ended (the first: \"{}\"); they run to the end of the file",
              import_.trace.file, counted(unfinished.value().size(), "range was", "ranges were"),
              reader_.string(unfinished.value().front().name)));
  }

  // What was going on when recording ended: operations that tell of themselves (docs/instrumentation.md) and
  // the other ranges.
  void read_ending(std::vector<trace::OpenRange> unfinished) {
    Ending& ending = import_.trace.ending;
    std::sort(unfinished.begin(), unfinished.end(), [](const trace::OpenRange& a, const trace::OpenRange& b) {
      return std::tuple(a.begin, a.depth) < std::tuple(b.begin, b.depth);
    });
    std::vector<bool> taken(unfinished.size(), false);
    const Status status = reader_.read_with_arguments<trace::OpenRange>(
        Selection{}, [&](const trace::OpenRange& range, std::span<const trace::Argument> arguments) {
          for (std::size_t i = 0; i < unfinished.size(); ++i) {
            if (taken[i] || unfinished[i] != range || !sound(range.begin, range.begin)) continue;
            const std::optional<OpenOperation> operation = open_operation(range, arguments);
            if (!operation.has_value()) continue;
            taken[i] = true;
            ending.operations.push_back(*operation);
          }
        });
    if (!status.ok()) damage_.insert(status.error().message);
    std::stable_sort(ending.operations.begin(), ending.operations.end(),
                     [](const OpenOperation& a, const OpenOperation& b) { return a.begin < b.begin; });
    for (std::size_t i = 0; i < unfinished.size(); ++i)
      if (!taken[i]) ending.ranges.push_back(name(unfinished[i].name));
    const std::string noted = metadata("hang");
    Nanoseconds time = 0;
    const auto parsed = std::from_chars(noted.data(), noted.data() + noted.size(), time);
    if (!noted.empty() && parsed.ec == std::errc() && time >= -kLatest && time <= kLatest)
      ending.hang_noted = time;
  }

  std::optional<OpenOperation> open_operation(const trace::OpenRange& range,
                                              std::span<const trace::Argument> arguments) {
    OpenOperation operation;
    operation.begin = range.begin;
    operation.name = name(range.name);
    bool is_operation = false;
    for (const trace::Argument& argument : arguments) {
      const std::string_view key = reader_.string(argument.key);
      if (key == "lockstep.operation") {
        is_operation = argument.bits <= static_cast<std::uint64_t>(Operation::send_recv);
        if (is_operation) operation.operation = static_cast<Operation>(argument.bits);
      } else if (key == "lockstep.group" && argument.bits < groups_.size()) {
        operation.group = groups_[argument.bits];
      } else if (key == "lockstep.sequence") {
        operation.sequence = static_cast<std::int64_t>(argument.bits);
      } else if (key == "lockstep.peer") {
        operation.peer = static_cast<std::int32_t>(argument.bits);
      }
    }
    if (!is_operation) return std::nullopt;
    return operation;
  }

  // Somebody listened again, or never did: not a loss.
  void add_unrecorded(Nanoseconds begin, Nanoseconds end) {
    if (begin < end && sound(begin, end)) import_.trace.unrecorded.push_back({begin, end});
  }

  void read_drops() {
    std::vector<trace::Drop> events;
    read(events);
    // Of count 0: what was not recorded on purpose.
    const auto on_purpose = [this](const trace::Drop& event) {
      return event.count == 0 && reader_.string(event.source) == "control";
    };
    for (const trace::Drop& event : events)
      if (on_purpose(event)) add_unrecorded(event.begin, event.end);
    std::erase_if(events, on_purpose);
    std::sort(import_.trace.unrecorded.begin(), import_.trace.unrecorded.end(),
              [](const TimeSpan& a, const TimeSpan& b) { return a.begin < b.begin; });
    const Losses losses = losses_of(reader_, events);
    import_.trace.dropped_events += losses.events;
    import_.trace.lost = losses.gaps;
    if (losses.events > 0)
      import_.warn("events_dropped",
                   fmt::format("{}: {} dropped while recording: {}", import_.trace.file,
                               counted(losses.events, "event was", "events were"), losses.reasons));
    if (!losses.gaps.empty())
      import_.warn("recording_gap", fmt::format("{}: what the GPU did was not recorded all the time: {}",
                                                import_.trace.file, losses.gap_reasons));
    if (unsound_ > 0) {
      import_.trace.dropped_events += unsound_;
      import_.warn("events_dropped",
                   fmt::format("{}: {} dropped: they end before they begin, or lie more than 146 years away",
                               import_.trace.file, counted(unsound_, "event was", "events were")));
    }
  }

  const Reader& reader_;
  const Options& options_;
  RankImport import_;
  std::unordered_map<trace::StringId, std::uint32_t> names_;
  std::unordered_map<trace::StringId, bool> loads_data_;
  std::unordered_map<trace::StringId, Pass> passes_;
  std::map<Computation, std::uint32_t> computations_;
  std::vector<std::uint32_t> groups_;
  struct Launch {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    std::uint32_t lane = 0;
  };
  std::unordered_map<trace::CorrelationId, Launch> launches_;
  std::vector<trace::LaneId> lanes_;  // by the file's numbers: the first one of the same thread
  IssueJoin issues_;
  std::set<std::tuple<trace::LaneId, Nanoseconds, Nanoseconds>> steps_;
  std::set<std::string> damage_;
  std::uint64_t unsound_ = 0;
};

}  // namespace

Result<RankImport> import_file(const std::filesystem::path& path, const Options& options) {
  const Result<Reader> reader = Reader::open(path);
  if (!reader.ok()) return reader.error();
  RankImport import = FileImport(reader.value(), path.string(), options).run();
  import.trace.ending.doing = read_doing(path);
  return import;
}

}  // namespace lockstep::analyzer::run

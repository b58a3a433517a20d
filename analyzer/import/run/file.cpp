#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "analyzer/import/rank/kept_ranges.h"
#include "analyzer/import/rank/names.h"
#include "analyzer/import/rank/settle_communication.h"
#include "analyzer/import/run/clock.h"
#include "analyzer/import/run/computations.h"
#include "analyzer/import/run/damage.h"
#include "analyzer/import/run/device.h"
#include "analyzer/import/run/device_passes.h"
#include "analyzer/import/run/ending.h"
#include "analyzer/import/run/garbage.h"
#include "analyzer/import/run/host_kinds.h"
#include "analyzer/import/run/identity.h"
#include "analyzer/import/run/interrupted.h"
#include "analyzer/import/run/issues.h"
#include "analyzer/import/run/losses.h"
#include "analyzer/import/run/run.h"
#include "analyzer/import/run/scheduling.h"
#include "analyzer/import/run/training.h"
#include "analyzer/model/is_communication.h"
#include "base/counts.h"
#include "trace/events/framework_issue.h"
#include "trace/events/scheduling.h"
#include "trace/reader.h"

namespace lockstep::analyzer::run {
namespace {

using trace::LaneKind;
using trace::Reader;
using trace::Selection;

class FileImport {
 public:
  FileImport(const Reader& reader, const std::string& file, const Options& options)
      : reader_(reader),
        options_(options),
        kept_(options.keep_host_ranges),
        host_kinds_(reader),
        passes_(reader),
        garbage_(reader) {
    import_.trace.file = file;
    import_.source = "lockstep";
    import_.trace.resolution_ns = 1;
  }

  RankImport run() {
    read_identity(reader_, import_);
    groups_ = intern_groups(reader_, import_);
    read_clock();
    read_launches();
    read_issues();
    read_activities();
    issues_.join(import_);
    read_steps();
    read_collectives();
    read_counters();
    if (const Status status = read_training(reader_, import_); !status.ok())
      damage_.insert(status.error().message);
    read_host_ranges();
    read_unfinished();
    read_drops();
    find_losses(reader_, damage_, import_);
    scheduling_.finish(import_.trace);
    std::move(garbage_).cut_from(import_.trace);
    cut_computations(import_.trace, metadata_of(reader_, trace::kTrainingThreadsKey));
    warn_of_damage(reader_, damage_, import_);
    settle_communication(import_, options_.communication);
    finish(import_);
    std::move(passes_).give(import_.trace);
    return std::move(import_);
  }

 private:
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
  }

  void read_clock() {
    import_.trace.ending.closed = reader_.complete();
    std::vector<trace::ClockSnapshot> snapshots;
    read(snapshots);
    unsound_ += run::read_clock(snapshots, options_.interrupted_at, import_);
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
      if (kept_.keeps(call.begin, call.end))
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

  const KernelName& kernel_of(trace::StringId id) {
    const auto [where, fresh] = kernels_.try_emplace(id);
    if (fresh) where->second = kernel_name(reader_.string(id));
    return where->second;
  }

  void read_activities() {
    std::vector<trace::DeviceActivity> events;
    read(events);
    Computations computations(reader_, import_.trace.computations);
    import_.trace.activities.reserve(events.size() + reader_.count(trace::EventKind::collective));
    for (const trace::DeviceActivity& event : events) {
      if (!sound(event.begin, event.end) || told_twice_[event.lane]) continue;
      Activity activity = activity_of(event.begin, event.end, event.name, event.lane);
      const KernelName& kernel = kernel_of(event.name);
      activity.activity_class = class_of(event.activity_class);
      if (activity.activity_class == Class::compute &&
          import_.trace.lanes[event.lane].kind == LaneKind::device_stream)
        activity.activity_class = class_of(kernel);
      set_launch(event.correlation, activity);
      if (is_communication(activity.activity_class)) {
        Communication communication;
        communication.operation = kernel.operation;
        const auto launch = launches_.find(event.correlation);
        if (event.correlation != trace::kNoCorrelation && launch != launches_.end())
          issues_.add_kernel({static_cast<std::uint32_t>(import_.trace.activities.size()),
                              launch->second.lane, launch->second.begin, launch->second.end});
        issues_.count_kernel();
        add_communication(activity, communication);
      } else {
        if (activity.activity_class == Class::compute) activity.compute = computations.find(event);
        activity.shape = event.shape;
        activity.warps = event.warps;
        import_.trace.activities.push_back(activity);
      }
    }
  }

  void read_issues() {
    std::vector<trace::CollectiveIssue> events;
    read(events);
    for (const trace::CollectiveIssue& event : events) {
      if (!sound(event.begin, event.end)) continue;
      const std::string_view issued = reader_.string(event.name);
      const std::uint32_t group = event.group < groups_.size() ? groups_[event.group] : kNone;
      if (issued.starts_with(trace::kEndUnknownPrefix)) {
        came_to(group, event.sequence);
        continue;
      }
      const auto reporter = issued.starts_with(trace::kFrameworkIssuePrefix) ? IssueJoin::Reporter::framework
                                                                             : IssueJoin::Reporter::library;
      issues_.add_issue(reporter, event, event.lane, group);
    }
  }

  // Of a collective without an interval the rank's progress is all that is known.
  void came_to(std::uint32_t group, std::int64_t sequence) {
    if (group == kNone || sequence == kNoSequence) return;
    std::vector<GroupProgress>& progress = import_.trace.ending.progress;
    auto of_group = std::find_if(progress.begin(), progress.end(),
                                 [group](const GroupProgress& one) { return one.group == group; });
    if (of_group == progress.end()) of_group = progress.insert(of_group, {group, kNoSequence, kNoSequence});
    of_group->issued = std::max(of_group->issued, sequence);
  }

  void read_counters() {
    std::vector<trace::Counter> events;
    read(events);
    std::map<std::string, std::size_t> track_of;
    for (const trace::Counter& event : events) {
      if (!sound(event.time, event.time) || event.lane >= import_.trace.lanes.size()) continue;
      const std::string& counter = import_.trace.lanes[event.lane].name;
      if (scheduling_.take(counter, event.time, event.value)) continue;
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
    const auto& steps = import_.trace.steps;
    const std::vector<bool> closed = closed_by_interruption(
        events, steps.empty() ? -kLatest : steps.front().end, import_.trace.ending.interrupted);
    for (std::size_t i = 0; i < events.size(); ++i) {
      const trace::Collective& event = events[i];
      if (!sound(event.begin, event.end) || told_twice_[event.lane]) continue;
      if (closed[i]) {
        import_.trace.ending.operations.push_back(as_open(event, name(event.name), groups_));
        continue;
      }
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
      host_kinds_.add_step(event);
    }
  }

  void read_host_ranges() {
    const Status status = reader_.read<trace::HostRange>(Selection{}, [this](const trace::HostRange& event) {
      if (!sound(event.begin, event.end)) return;
      passes_.take(event);
      garbage_.take(event);
      const HostKind kind = host_kinds_.of(event);
      if (kind == HostKind::other && !kept_.keeps(event.begin, event.end, reader_.string(event.name))) return;
      import_.trace.host_ranges.push_back(
          {event.begin, event.end, name(event.name), event.lane, event.depth, kind});
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
      const HostKind kind = host_kinds_.of(event.name, event.domain, event.lane, event.begin, end);
      if (!sound(event.begin, std::max(event.begin, end)) ||
          (kind == HostKind::other && !kept_.keeps(event.begin, end, reader_.string(event.name))))
        continue;
      import_.trace.host_ranges.push_back(
          {event.begin, std::max(event.begin, end), name(event.name), event.lane, event.depth, kind});
    }
    const Status status = read_ending(
        reader_, unfinished.value(), groups_, [this](trace::StringId id) { return name(id); },
        import_.trace.ending);
    if (!status.ok()) damage_.insert(status.error().message);
    if (!unfinished.value().empty())
      import_.warn(
          "ranges_unfinished",
          fmt::format(
              "{}: {} still open when recording ended (the first: \"{}\"); what was open runs to the end of the file",
              import_.trace.file, format_plural(unfinished.value().size(), "range was", "ranges were"),
              reader_.string(unfinished.value().front().name)));
  }

  void read_drops() {
    std::vector<trace::Drop> events;
    read(events);
    const Losses losses = losses_of(reader_, events);
    import_.trace.dropped_events += losses.events;
    import_.trace.lost = losses.gaps;
    import_.trace.unrecorded = losses.on_purpose;
    if (losses.events > 0)
      import_.warn("events_dropped",
                   fmt::format("{}: {} dropped while recording: {}", import_.trace.file,
                               format_plural(losses.events, "event was", "events were"), losses.reasons));
    if (!losses.gaps.empty())
      import_.warn("recording_gap", fmt::format("{}: what the GPU did was not recorded all the time: {}",
                                                import_.trace.file, losses.gap_reasons));
    if (unsound_ > 0) {
      import_.trace.dropped_events += unsound_;
      import_.warn("events_dropped",
                   fmt::format("{}: {} dropped: they end before they begin, or lie more than 146 years away",
                               import_.trace.file, format_plural(unsound_, "event was", "events were")));
    }
  }

  static std::vector<bool> find_told_twice(const Reader& reader) {
    std::vector<bool> told_twice;
    for (const trace::Lane& lane : reader.lanes()) told_twice.push_back(is_told_twice(lane, reader.lanes()));
    return told_twice;
  }

  const Reader& reader_;
  const Options& options_;
  KeptRanges kept_;  // of other ranges than steps and data loading
  const std::vector<bool> told_twice_ = find_told_twice(reader_);  // by lane
  RankImport import_;
  std::unordered_map<trace::StringId, std::uint32_t> names_;
  std::unordered_map<trace::StringId, KernelName> kernels_;
  std::vector<std::uint32_t> groups_;
  struct Launch {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    std::uint32_t lane = 0;
  };
  std::unordered_map<trace::CorrelationId, Launch> launches_;
  IssueJoin issues_;
  HostKinds host_kinds_;
  DevicePasses passes_;
  GarbageCollections garbage_;
  SchedulingImport scheduling_;
  std::set<std::string> damage_;
  std::uint64_t unsound_ = 0;
};

}  // namespace

Result<RankImport> import_file(const std::filesystem::path& path, const Options& options) {
  const Result<Reader> reader = Reader::open(path);
  if (!reader.ok()) return reader.error();
  RankImport import = FileImport(reader.value(), path.string(), options).run();
  // Of a silence that was over: it stands somewhere else by now.
  const Nanoseconds noted = import.trace.ending.hang_noted;
  const bool went_on =
      noted != kUnknownTime && std::any_of(import.trace.activities.begin(), import.trace.activities.end(),
                                           [&](const Activity& one) { return one.begin > noted; });
  if (!went_on) read_doing(path, import);
  return import;
}

}  // namespace lockstep::analyzer::run

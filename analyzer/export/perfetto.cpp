// Perfetto's protobuf trace. One packet sequence per rank; its packets are sorted by time, its strings
// interned where they first occur. A rank is a process track, each of its lanes a track below it (tracks with
// names of their own rather than thread tracks: thread ids of different hosts collide, and a stream has
// none).
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <ostream>
#include <protozero/pbf_builder.hpp>
#include <queue>
#include <string>
#include <unordered_map>

#include "analyzer/export/export.h"
#include "analyzer/export/exporters.h"
#include "analyzer/export/perfetto_fields.h"
#include "analyzer/export/slices.h"
#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

namespace pf = perfetto;
template <class Message>
using Builder = protozero::pbf_builder<Message>;

// Ids of the strings that a sequence has used, and the InternedData for those that its next packet brings.
class Interner {
 public:
  std::uint64_t id(pf::InternedData kind, std::string_view text) {
    auto& ids = ids_[slot(kind)];
    std::string key = to_valid_utf8(text);
    const auto [entry, is_new] = ids.try_emplace(std::move(key), ids.size() + 1);
    if (is_new) {
      Builder<pf::InternedData> data(fresh_);
      Builder<pf::InternedString> string(data, kind);
      string.add_uint64(pf::InternedString::iid, entry->second);
      string.add_string(pf::InternedString::text, entry->first);
    }
    return entry->second;
  }

  void move_fresh_into(Builder<pf::TracePacket>& packet) {
    if (fresh_.empty()) return;
    packet.add_message(pf::TracePacket::interned_data, fresh_);
    fresh_.clear();
  }

 private:
  static std::size_t slot(pf::InternedData kind) {
    return kind == pf::InternedData::debug_annotation_string_values ? 0 : static_cast<std::size_t>(kind);
  }

  std::array<std::unordered_map<std::string, std::uint64_t>, 4> ids_;
  std::string fresh_;
};

// One begin or end on a track.
struct Edge {
  Nanoseconds time;
  std::uint32_t track;
  std::uint32_t slice;
  bool is_begin;
};

// The edges of all tracks in order of time, one by one; those of one track stay in the order in which its
// slices open and close. Takes memory for the open slices only.
class EdgeMerger {
 public:
  explicit EdgeMerger(const std::vector<Track>& tracks) : tracks_(tracks), cursors_(tracks.size()) {
    for (std::uint32_t t = 0; t < tracks.size(); ++t) push(t);
  }

  std::optional<Edge> next() {
    if (queue_.empty()) return std::nullopt;
    const Edge edge = queue_.top();
    queue_.pop();
    Cursor& cursor = cursors_[edge.track];
    if (edge.is_begin) {
      cursor.open.push_back(cursor.next++);
    } else {
      cursor.open.pop_back();
    }
    push(edge.track);
    return edge;
  }

 private:
  struct Cursor {
    std::uint32_t next = 0;           // slice that begins next
    std::vector<std::uint32_t> open;  // slices that have begun, the innermost last
  };
  struct Later {
    bool operator()(const Edge& a, const Edge& b) const {
      return a.time != b.time ? a.time > b.time : a.track > b.track;
    }
  };

  void push(std::uint32_t track) {
    const std::vector<Slice>& slices = tracks_[track].slices;
    const Cursor& cursor = cursors_[track];
    const bool begins = cursor.next < slices.size();
    if (!cursor.open.empty() && (!begins || slices[cursor.open.back()].end <= slices[cursor.next].begin)) {
      queue_.push({slices[cursor.open.back()].end, track, cursor.open.back(), false});
    } else if (begins) {
      queue_.push({slices[cursor.next].begin, track, cursor.next, true});
    }
  }

  const std::vector<Track>& tracks_;
  std::vector<Cursor> cursors_;
  std::priority_queue<Edge, std::vector<Edge>, Later> queue_;
};

// The points of all counters in order of time, one by one.
class PointMerger {
 public:
  struct Point {
    Nanoseconds time;
    std::uint32_t counter;
    double value;
  };

  explicit PointMerger(const std::vector<CounterTrack>& counters) {
    for (std::uint32_t c = 0; c < counters.size(); ++c)
      for (const CounterPoint& point : counters[c].points) points_.push_back({point.time, c, point.value});
    std::stable_sort(points_.begin(), points_.end(),
                     [](const Point& a, const Point& b) { return a.time < b.time; });
  }
  std::optional<Point> next_until(Nanoseconds time) {
    if (next_ == points_.size() || points_[next_].time > time) return std::nullopt;
    return points_[next_++];
  }

 private:
  std::vector<Point> points_;
  std::size_t next_ = 0;
};

// Writes one rank as one packet sequence.
class RankWriter {
 public:
  RankWriter(const Timeline& timeline, std::size_t rank_index, Nanoseconds zero, std::ostream& out)
      : timeline_(timeline), rank_index_(rank_index), zero_(zero), out_(out) {}

  void write() {
    const std::vector<Track> tracks = timeline_.tracks_of_rank(rank_index_);
    write_process();
    for (std::uint32_t t = 0; t < tracks.size(); ++t) write_track(tracks[t], t);
    const std::vector<CounterTrack>& counters = timeline_.job().ranks[rank_index_].counters;
    const auto first_counter = static_cast<std::uint32_t>(tracks.size());
    for (std::uint32_t c = 0; c < counters.size(); ++c) write_counter_track(counters[c], first_counter + c);
    PointMerger points(counters);
    EdgeMerger edges(tracks);
    for (auto edge = edges.next(); edge && out_; edge = edges.next()) {
      while (const auto point = points.next_until(edge->time)) write_point(*point, first_counter);
      write_edge(tracks[edge->track], *edge);
    }
    while (const auto point = points.next_until(std::numeric_limits<Nanoseconds>::max()))
      write_point(*point, first_counter);
  }

 private:
  std::uint64_t process_uuid() const { return (static_cast<std::uint64_t>(rank_index_) + 1) << 32; }
  std::uint64_t track_uuid(std::uint32_t track) const { return process_uuid() + track + 1; }

  // Frames `packet_` as Trace.packet.
  void flush() {
    frame_.clear();
    Builder<pf::Trace>(frame_).add_message(pf::Trace::packet, packet_);
    out_.write(frame_.data(), static_cast<std::streamsize>(frame_.size()));
    packet_.clear();
  }

  void add_sequence(Builder<pf::TracePacket>& packet) {
    packet.add_uint32(pf::TracePacket::trusted_packet_sequence_id,
                      static_cast<std::uint32_t>(rank_index_) + 1);
    packet.add_uint32(pf::TracePacket::sequence_flags,
                      first_ ? pf::kIncrementalStateCleared : pf::kNeedsIncrementalState);
    first_ = false;
  }

  void write_process() {
    const RankTrace& rank = timeline_.job().ranks[rank_index_];
    Builder<pf::TracePacket> packet(packet_);
    add_sequence(packet);
    {
      Builder<pf::TrackDescriptor> track(packet, pf::TracePacket::track_descriptor);
      track.add_uint64(pf::TrackDescriptor::uuid, process_uuid());
      track.add_int32(pf::TrackDescriptor::child_ordering, pf::kOrderExplicit);
      Builder<pf::ProcessDescriptor> process(track, pf::TrackDescriptor::process);
      // Process 0 is special to Perfetto: pids are ranks + 1.
      process.add_int32(pf::ProcessDescriptor::pid, rank.rank + 1);
      process.add_int32(pf::ProcessDescriptor::legacy_sort_index, rank.rank);
      process.add_string(pf::ProcessDescriptor::process_name, to_valid_utf8(name_of_rank(rank)));
    }
    flush();
  }

  void write_track(const Track& track, std::uint32_t index) {
    Builder<pf::TracePacket> packet(packet_);
    add_sequence(packet);
    {
      Builder<pf::TrackDescriptor> descriptor(packet, pf::TracePacket::track_descriptor);
      descriptor.add_uint64(pf::TrackDescriptor::uuid, track_uuid(index));
      descriptor.add_string(pf::TrackDescriptor::name, to_valid_utf8(track.name));
      descriptor.add_uint64(pf::TrackDescriptor::parent_uuid, process_uuid());
      descriptor.add_int32(pf::TrackDescriptor::sibling_order_rank, static_cast<std::int32_t>(index));
      descriptor.add_int32(pf::TrackDescriptor::sibling_merge_behavior, pf::kMergeNone);
    }
    flush();
  }

  void write_counter_track(const CounterTrack& counter, std::uint32_t index) {
    Builder<pf::TracePacket> packet(packet_);
    add_sequence(packet);
    {
      Builder<pf::TrackDescriptor> descriptor(packet, pf::TracePacket::track_descriptor);
      descriptor.add_uint64(pf::TrackDescriptor::uuid, track_uuid(index));
      descriptor.add_string(pf::TrackDescriptor::name, to_valid_utf8(counter.name));
      descriptor.add_uint64(pf::TrackDescriptor::parent_uuid, process_uuid());
      descriptor.add_message(pf::TrackDescriptor::counter, std::string());
      descriptor.add_int32(pf::TrackDescriptor::sibling_order_rank, static_cast<std::int32_t>(index));
    }
    flush();
  }

  void write_point(const PointMerger::Point& point, std::uint32_t first_counter) {
    Builder<pf::TracePacket> packet(packet_);
    packet.add_uint64(pf::TracePacket::timestamp,
                      static_cast<std::uint64_t>(point.time) - static_cast<std::uint64_t>(zero_));
    packet.add_uint32(pf::TracePacket::timestamp_clock_id, pf::kClockBoottime);
    add_sequence(packet);
    {
      Builder<pf::TrackEvent> event(packet, pf::TracePacket::track_event);
      event.add_int32(pf::TrackEvent::type, pf::kCounter);
      event.add_uint64(pf::TrackEvent::track_uuid, track_uuid(first_counter + point.counter));
      event.add_double(pf::TrackEvent::double_counter_value, point.value);
    }
    flush();
  }

  void write_edge(const Track& track, const Edge& edge) {
    Builder<pf::TracePacket> packet(packet_);
    packet.add_uint64(pf::TracePacket::timestamp,
                      static_cast<std::uint64_t>(edge.time) - static_cast<std::uint64_t>(zero_));
    packet.add_uint32(pf::TracePacket::timestamp_clock_id, pf::kClockBoottime);
    add_sequence(packet);
    {
      Builder<pf::TrackEvent> event(packet, pf::TracePacket::track_event);
      event.add_int32(pf::TrackEvent::type, edge.is_begin ? pf::kSliceBegin : pf::kSliceEnd);
      event.add_uint64(pf::TrackEvent::track_uuid, track_uuid(edge.track));
      if (edge.is_begin) {
        timeline_.describe(rank_index_, track.kind, track.slices[edge.slice], details_);
        add_details(event);
      }
    }
    interner_.move_fresh_into(packet);
    flush();
  }

  void add_details(Builder<pf::TrackEvent>& event) {
    event.add_uint64(pf::TrackEvent::category_iids,
                     interner_.id(pf::InternedData::event_categories, details_.category));
    event.add_uint64(pf::TrackEvent::name_iid, interner_.id(pf::InternedData::event_names, details_.name));
    for (const auto& [key, value] : details_.arguments) {
      Builder<pf::DebugAnnotation> annotation(event, pf::TrackEvent::debug_annotations);
      annotation.add_uint64(pf::DebugAnnotation::name_iid,
                            interner_.id(pf::InternedData::debug_annotation_names, key));
      if (const auto* number = std::get_if<std::int64_t>(&value)) {
        annotation.add_int64(pf::DebugAnnotation::int_value, *number);
      } else if (const auto* real = std::get_if<double>(&value)) {
        annotation.add_double(pf::DebugAnnotation::double_value, *real);
      } else if (const auto* flag = std::get_if<bool>(&value)) {
        annotation.add_bool(pf::DebugAnnotation::bool_value, *flag);
      } else {
        annotation.add_uint64(pf::DebugAnnotation::string_value_iid,
                              interner_.id(pf::InternedData::debug_annotation_string_values,
                                           std::get<std::string_view>(value)));
      }
    }
    if (details_.flow == FlowPlace::none) return;
    event.add_fixed64(
        details_.flow == FlowPlace::last ? pf::TrackEvent::terminating_flow_ids : pf::TrackEvent::flow_ids,
        details_.flow_id);
  }

  const Timeline& timeline_;
  const std::size_t rank_index_;
  const Nanoseconds zero_;
  std::ostream& out_;
  bool first_ = true;
  Interner interner_;
  SliceDetails details_;
  std::string packet_, frame_;
};

// Relates the trace's times to the calendar, where that is known.
void write_clocks(const Job& job, Nanoseconds zero, std::ostream& out) {
  std::string trace;
  {
    Builder<pf::Trace> root(trace);
    Builder<pf::TracePacket> packet(root, pf::Trace::packet);
    packet.add_uint32(pf::TracePacket::trusted_packet_sequence_id,
                      static_cast<std::uint32_t>(job.ranks.size()) + 1);
    Builder<pf::ClockSnapshot> snapshot(packet, pf::TracePacket::clock_snapshot);
    const auto add = [&](std::uint32_t id, std::uint64_t timestamp) {
      Builder<pf::Clock> clock(snapshot, pf::ClockSnapshot::clocks);
      clock.add_uint32(pf::Clock::clock_id, id);
      clock.add_uint64(pf::Clock::timestamp, timestamp);
    };
    add(pf::kClockBoottime, 0);
    if (job.realtime_of_zero) {
      add(pf::kClockRealtime,
          static_cast<std::uint64_t>(*job.realtime_of_zero) + static_cast<std::uint64_t>(zero));
    }
    snapshot.add_uint32(pf::ClockSnapshot::primary_trace_clock, pf::kClockBoottime);
  }
  out.write(trace.data(), static_cast<std::streamsize>(trace.size()));
}

}  // namespace

void write_perfetto(const Job& job, const Analysis& analysis, std::ostream& out) {
  const Timeline timeline(job, analysis);
  const Nanoseconds zero = timeline.earliest_time();
  write_clocks(job, zero, out);
  for (std::size_t r = 0; r < job.ranks.size() && out; ++r) RankWriter(timeline, r, zero, out).write();
}

constinit const Exporter exporters::perfetto{
    .name = "perfetto",
    .title = "Perfetto",
    .description = "a timeline for ui.perfetto.dev (FILE.pftrace)",
    .ending = ".pftrace",
    .opened_with = "ui.perfetto.dev",
    .write_stream = [](const Job& job, const Analysis& analysis, const ExportOptions& /*options*/,
                       std::ostream& out) { write_perfetto(job, analysis, out); },
};

}  // namespace lockstep::analyzer

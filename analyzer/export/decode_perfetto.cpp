#include "analyzer/export/decode_perfetto.h"

#include <fmt/format.h>

#include <protozero/pbf_message.hpp>

#include "analyzer/export/perfetto_fields.h"

namespace lockstep::analyzer {
namespace {

namespace pf = perfetto;
template <class Message>
using Reader = protozero::pbf_message<Message>;
using protozero::data_view;

struct Sequence {
  bool cleared = false;
  std::uint64_t last_time = 0;
  std::map<pf::InternedData, std::map<std::uint64_t, std::string>> interned;
};

class Decoder {
 public:
  DecodedTrace decode(std::string_view bytes) {
    Reader<pf::Trace> trace(data_view(bytes.data(), bytes.size()));
    while (trace.next(pf::Trace::packet)) read_packet(trace.get_view());
    for (const auto& [track, open] : open_) {
      if (!open.empty()) fault("track {} has {} begins without an end", track, open.size());
    }
    return std::move(result_);
  }

 private:
  template <class... Arguments>
  void fault(fmt::string_view text, const Arguments&... arguments) {
    result_.faults.push_back(fmt::vformat(text, fmt::make_format_args(arguments...)));
  }

  void read_packet(data_view view) {
    std::uint64_t time = 0;
    bool has_time = false;
    std::uint32_t sequence_id = 0, flags = 0;
    data_view event, interned;
    Reader<pf::TracePacket> packet(view);
    while (packet.next()) {
      switch (packet.tag()) {
        case pf::TracePacket::timestamp:
          time = packet.get_uint64(), has_time = true;
          break;
        case pf::TracePacket::timestamp_clock_id:
          if (packet.get_uint32() != pf::kClockBoottime) fault("unexpected clock");
          break;
        case pf::TracePacket::trusted_packet_sequence_id:
          sequence_id = packet.get_uint32();
          break;
        case pf::TracePacket::sequence_flags:
          flags = packet.get_uint32();
          break;
        case pf::TracePacket::track_event:
          event = packet.get_view();
          break;
        case pf::TracePacket::interned_data:
          interned = packet.get_view();
          break;
        case pf::TracePacket::track_descriptor:
          read_descriptor(packet.get_view());
          break;
        case pf::TracePacket::clock_snapshot:
          read_clocks(packet.get_view());
          break;
        default:
          fault("unknown field"), packet.skip();
      }
    }
    Sequence& sequence = sequences_[sequence_id];
    if (flags & pf::kIncrementalStateCleared) sequence.cleared = true;
    if (!interned.empty()) read_interned(interned, sequence);
    if (event.empty()) return;
    if (!sequence.cleared || !(flags & pf::kNeedsIncrementalState))
      fault("sequence {}: state not cleared", sequence_id);
    if (!has_time || time < sequence.last_time) fault("sequence {}: time goes back to {}", sequence_id, time);
    sequence.last_time = time;
    read_event(event, time, sequence);
  }

  void read_clocks(data_view view) {
    Reader<pf::ClockSnapshot> snapshot(view);
    while (snapshot.next()) {
      if (snapshot.tag() != pf::ClockSnapshot::clocks) {
        snapshot.skip();
        continue;
      }
      std::uint32_t id = 0;
      std::uint64_t time = 0;
      Reader<pf::Clock> clock(snapshot.get_view());
      while (clock.next())
        clock.tag() == pf::Clock::clock_id ? void(id = clock.get_uint32()) : void(time = clock.get_uint64());
      result_.clocks[id] = time;
    }
  }

  void read_descriptor(data_view view) {
    std::uint64_t uuid = 0;
    DecodedTrack track;
    Reader<pf::TrackDescriptor> descriptor(view);
    while (descriptor.next()) {
      switch (descriptor.tag()) {
        case pf::TrackDescriptor::uuid:
          uuid = descriptor.get_uint64();
          break;
        case pf::TrackDescriptor::parent_uuid:
          track.parent = descriptor.get_uint64();
          break;
        case pf::TrackDescriptor::name:
          track.name = descriptor.get_string();
          break;
        case pf::TrackDescriptor::counter:
          track.is_counter = true;
          descriptor.skip();
          break;
        case pf::TrackDescriptor::process: {
          Reader<pf::ProcessDescriptor> process(descriptor.get_view());
          while (process.next()) {
            if (process.tag() == pf::ProcessDescriptor::pid) {
              track.pid = process.get_int32();
            } else if (process.tag() == pf::ProcessDescriptor::process_name) {
              track.name = process.get_string();
            } else {
              process.skip();
            }
          }
          break;
        }
        default:
          descriptor.skip();
      }
    }
    if (!result_.tracks.emplace(uuid, track).second) fault("track {} described twice", uuid);
    if (track.parent != 0 && !result_.tracks.contains(track.parent))
      fault("track {} has an unknown parent", uuid);
  }

  void read_interned(data_view view, Sequence& sequence) {
    Reader<pf::InternedData> data(view);
    while (data.next()) {
      const pf::InternedData kind = data.tag();
      std::uint64_t id = 0;
      std::string text;
      Reader<pf::InternedString> string(data.get_view());
      while (string.next())
        string.tag() == pf::InternedString::iid ? void(id = string.get_uint64())
                                                : void(text = string.get_string());
      if (!sequence.interned[kind].emplace(id, text).second) fault("interned id {} given twice", id);
    }
  }

  std::string interned(Sequence& sequence, pf::InternedData kind, std::uint64_t id) {
    const auto found = sequence.interned[kind].find(id);
    if (found != sequence.interned[kind].end()) return found->second;
    fault("unknown interned id {}", id);
    return "";
  }

  void read_event(data_view view, std::uint64_t time, Sequence& sequence) {
    DecodedSlice slice;
    std::int32_t type = 0;
    double value = 0;
    Reader<pf::TrackEvent> event(view);
    while (event.next()) {
      switch (event.tag()) {
        case pf::TrackEvent::type:
          type = event.get_int32();
          break;
        case pf::TrackEvent::track_uuid:
          slice.track = event.get_uint64();
          break;
        case pf::TrackEvent::name_iid:
          slice.name = interned(sequence, pf::InternedData::event_names, event.get_uint64());
          break;
        case pf::TrackEvent::category_iids:
          slice.category = interned(sequence, pf::InternedData::event_categories, event.get_uint64());
          break;
        case pf::TrackEvent::flow_ids:
          slice.flows.push_back(event.get_fixed64());
          break;
        case pf::TrackEvent::terminating_flow_ids:
          slice.terminated_flows.push_back(event.get_fixed64());
          break;
        case pf::TrackEvent::debug_annotations:
          read_annotation(event.get_view(), sequence, slice);
          break;
        case pf::TrackEvent::double_counter_value:
          value = event.get_double();
          break;
      }
    }
    if (!result_.tracks.contains(slice.track)) fault("event on unknown track {}", slice.track);
    if (type == pf::kCounter) {
      if (!result_.tracks[slice.track].is_counter) fault("a counter's value on track {}", slice.track);
      result_.points.push_back({slice.track, time, value});
      return;
    }
    std::vector<DecodedSlice>& open = open_[slice.track];
    if (type == pf::kSliceBegin) {
      slice.begin = time;
      open.push_back(std::move(slice));
    } else if (type != pf::kSliceEnd || open.empty()) {
      fault("track {}: an end without a begin", slice.track);
    } else {
      open.back().end = time;
      result_.slices.push_back(std::move(open.back()));
      open.pop_back();
    }
  }

  void read_annotation(data_view view, Sequence& sequence, DecodedSlice& slice) {
    std::string key, value;
    Reader<pf::DebugAnnotation> annotation(view);
    while (annotation.next()) {
      switch (annotation.tag()) {
        case pf::DebugAnnotation::name_iid:
          key = interned(sequence, pf::InternedData::debug_annotation_names, annotation.get_uint64());
          break;
        case pf::DebugAnnotation::int_value:
          value = fmt::format("{}", annotation.get_int64());
          break;
        case pf::DebugAnnotation::bool_value:
          value = annotation.get_bool() ? "true" : "false";
          break;
        case pf::DebugAnnotation::double_value:
          value = fmt::format("{}", annotation.get_double());
          break;
        case pf::DebugAnnotation::string_value_iid:
          value =
              interned(sequence, pf::InternedData::debug_annotation_string_values, annotation.get_uint64());
          break;
      }
    }
    slice.arguments[key] = value;
  }

  DecodedTrace result_;
  std::map<std::uint32_t, Sequence> sequences_;
  std::map<std::uint64_t, std::vector<DecodedSlice>> open_;
};

}  // namespace

DecodedTrace decode_perfetto(std::string_view bytes) {
  return Decoder().decode(bytes);
}

}  // namespace lockstep::analyzer

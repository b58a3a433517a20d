// Field numbers of Perfetto's trace format, as far as the export uses it
// (https://perfetto.dev/docs/reference/trace-packet-proto). The numbers are an interface: they never change.
#pragma once

#include <cstdint>

namespace lockstep::analyzer::perfetto {

enum class Trace : std::uint32_t { packet = 1 };

enum class TracePacket : std::uint32_t {
  clock_snapshot = 6,
  timestamp = 8,
  trusted_packet_sequence_id = 10,
  track_event = 11,
  interned_data = 12,
  sequence_flags = 13,
  timestamp_clock_id = 58,
  track_descriptor = 60,
};
inline constexpr std::uint32_t kIncrementalStateCleared = 1;  // sequence_flags
inline constexpr std::uint32_t kNeedsIncrementalState = 2;

enum class ClockSnapshot : std::uint32_t { clocks = 1, primary_trace_clock = 2 };
enum class Clock : std::uint32_t { clock_id = 1, timestamp = 2 };
inline constexpr std::uint32_t kClockRealtime = 1;
inline constexpr std::uint32_t kClockBoottime = 6;  // what a trace's times are in unless it says otherwise

enum class TrackDescriptor : std::uint32_t {
  uuid = 1,
  name = 2,
  process = 3,
  parent_uuid = 5,
  counter = 8,
  child_ordering = 11,
  sibling_order_rank = 12,
  sibling_merge_behavior = 15,
};
inline constexpr std::int32_t kOrderExplicit = 3;  // child_ordering
inline constexpr std::int32_t kMergeNone = 2;      // sibling_merge_behavior

enum class CounterDescriptor : std::uint32_t { unit = 3 };  // empty: a counter of no unit in particular

enum class ProcessDescriptor : std::uint32_t { pid = 1, legacy_sort_index = 3, process_name = 6 };

enum class TrackEvent : std::uint32_t {
  category_iids = 3,
  debug_annotations = 4,
  type = 9,
  name_iid = 10,
  track_uuid = 11,
  double_counter_value = 44,
  flow_ids = 47,
  terminating_flow_ids = 48,
};
inline constexpr std::int32_t kSliceBegin = 1;  // type
inline constexpr std::int32_t kSliceEnd = 2;
inline constexpr std::int32_t kCounter = 4;

enum class DebugAnnotation : std::uint32_t {
  name_iid = 1,
  bool_value = 2,
  int_value = 4,
  double_value = 5,
  string_value_iid = 17,
};

enum class InternedData : std::uint32_t {
  event_categories = 1,
  event_names = 2,
  debug_annotation_names = 3,
  debug_annotation_string_values = 29,
};
enum class InternedString : std::uint32_t { iid = 1, text = 2 };  // the same for all four

}  // namespace lockstep::analyzer::perfetto

// Which columns each kind of event has: the one declaration that writer, reader and tests share.
//
// A column's number (its id) is unique within a kind and stands in files: never renumber, only append. A
// reader skips columns it does not know and leaves fields whose column is absent at the default of
// trace/events/event.h.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "trace/events/event.h"
#include "trace/format/chunk.h"

namespace lockstep::trace::format {

template <class T>
struct MemberPointer;
template <class Class, class Type>
struct MemberPointer<Type Class::*> {
  using Value = Type;
};

// One field, one column.
template <std::uint8_t Id, auto Pointer>
struct Field {
  using Value = typename MemberPointer<decltype(Pointer)>::Value;
  static constexpr std::uint8_t kId = Id;
  static constexpr auto kPointer = Pointer;
  static constexpr std::size_t kBytesPerRow = sizeof(Value);
};

// Begin and end: the columns are the duration and the begin, which may be predicted from durations.
template <std::uint8_t DurationId, std::uint8_t BeginId, auto BeginPointer, auto EndPointer>
struct Interval {
  static constexpr std::uint8_t kDurationId = DurationId;
  static constexpr std::uint8_t kBeginId = BeginId;
  static constexpr auto kBegin = BeginPointer;
  static constexpr auto kEnd = EndPointer;
  static constexpr std::size_t kBytesPerRow = 2 * sizeof(Nanoseconds);
};

// Values as they are coded: integers sign- or zero-extended to 64 bits, floating point by its bit pattern.
template <class T>
constexpr std::uint64_t to_bits(T value) {
  if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::uint64_t>(value);
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<std::uint64_t>(static_cast<std::underlying_type_t<T>>(value));
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

template <class T>
constexpr T from_bits(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(bits);
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<T>(static_cast<std::underlying_type_t<T>>(bits));
  } else if constexpr (std::is_same_v<T, bool>) {
    return bits != 0;
  } else {
    return static_cast<T>(bits);
  }
}

// What stands in the file about one chunk; the rows of index chunks.
struct IndexEntry {
  std::uint8_t kind = 0;
  std::uint16_t flags = 0;
  std::uint32_t first_id = 0;
  std::uint32_t count = 0;
  std::uint32_t size = 0;  // header and body
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  std::uint64_t offset = 0;  // not a column: chunks stand without gaps
};

template <class E>
struct Schema;

template <>
struct Schema<HostRange> {
  static constexpr EventKind kKind = EventKind::host_range;
  static constexpr bool kHasLane = true;
  static constexpr bool kHasArguments = true;
  using Fields =
      std::tuple<Interval<1, 2, &HostRange::begin, &HostRange::end>, Field<3, &HostRange::name>,
                 Field<4, &HostRange::domain>, Field<5, &HostRange::category>, Field<6, &HostRange::color>,
                 Field<7, &HostRange::depth>, Field<8, &HostRange::nested>, Field<9, &HostRange::end_lane>>;
};

template <>
struct Schema<OpenRange> {
  static constexpr EventKind kKind = EventKind::open_range;
  static constexpr bool kHasLane = true;
  static constexpr bool kHasArguments = true;
  using Fields =
      std::tuple<Field<2, &OpenRange::begin>, Field<3, &OpenRange::name>, Field<4, &OpenRange::domain>,
                 Field<5, &OpenRange::category>, Field<6, &OpenRange::color>, Field<7, &OpenRange::depth>,
                 Field<8, &OpenRange::nested>>;
};

template <>
struct Schema<Mark> {
  static constexpr EventKind kKind = EventKind::mark;
  static constexpr bool kHasLane = true;
  static constexpr bool kHasArguments = true;
  using Fields = std::tuple<Field<2, &Mark::time>, Field<3, &Mark::name>, Field<4, &Mark::domain>,
                            Field<5, &Mark::category>, Field<6, &Mark::color>>;
};

template <>
struct Schema<Counter> {
  static constexpr EventKind kKind = EventKind::counter;
  static constexpr bool kHasLane = true;
  static constexpr bool kHasArguments = false;
  using Fields = std::tuple<Field<2, &Counter::time>, Field<3, &Counter::value>>;
};

template <>
struct Schema<DeviceActivity> {
  static constexpr EventKind kKind = EventKind::device_activity;
  static constexpr bool kHasLane = true;
  static constexpr bool kHasArguments = false;
  using Fields = std::tuple<Interval<1, 2, &DeviceActivity::begin, &DeviceActivity::end>,
                            Field<3, &DeviceActivity::name>, Field<4, &DeviceActivity::activity_class>,
                            Field<5, &DeviceActivity::correlation>, Field<6, &DeviceActivity::bytes>,
                            Field<7, &DeviceActivity::layer>, Field<8, &DeviceActivity::microbatch>,
                            Field<9, &DeviceActivity::pass>, Field<10, &DeviceActivity::shape>,
                            Field<11, &DeviceActivity::warps>>;
};

template <>
struct Schema<ApiCall> {
  static constexpr EventKind kKind = EventKind::api_call;
  static constexpr bool kHasLane = true;
  static constexpr bool kHasArguments = false;
  using Fields = std::tuple<Interval<1, 2, &ApiCall::begin, &ApiCall::end>, Field<3, &ApiCall::name>,
                            Field<5, &ApiCall::correlation>>;
};

template <>
struct Schema<Collective> {
  static constexpr EventKind kKind = EventKind::collective;
  static constexpr bool kHasLane = true;
  static constexpr bool kHasArguments = false;
  using Fields = std::tuple<Interval<1, 2, &Collective::begin, &Collective::end>, Field<3, &Collective::name>,
                            Field<4, &Collective::group>, Field<5, &Collective::correlation>,
                            Field<6, &Collective::bytes>, Field<7, &Collective::operation>,
                            Field<8, &Collective::sequence>, Field<9, &Collective::data_type>,
                            Field<10, &Collective::peer>>;
};

template <>
struct Schema<Step> {
  static constexpr EventKind kKind = EventKind::step;
  static constexpr bool kHasLane = true;
  static constexpr bool kHasArguments = false;
  using Fields = std::tuple<Interval<1, 2, &Step::begin, &Step::end>, Field<3, &Step::number>>;
};

template <>
struct Schema<ClockSnapshot> {
  static constexpr EventKind kKind = EventKind::clock_snapshot;
  static constexpr bool kHasLane = false;
  static constexpr bool kHasArguments = false;
  using Fields = std::tuple<Field<2, &ClockSnapshot::time>, Field<3, &ClockSnapshot::realtime>,
                            Field<4, &ClockSnapshot::monotonic_raw>, Field<5, &ClockSnapshot::tsc>>;
};

template <>
struct Schema<Drop> {
  static constexpr EventKind kKind = EventKind::drop;
  static constexpr bool kHasLane = false;
  static constexpr bool kHasArguments = false;
  using Fields = std::tuple<Interval<1, 2, &Drop::begin, &Drop::end>, Field<3, &Drop::count>,
                            Field<4, &Drop::source>, Field<5, &Drop::reason>>;
};

template <>
struct Schema<CollectiveIssue> {
  static constexpr EventKind kKind = EventKind::collective_issue;
  static constexpr bool kHasLane = true;
  static constexpr bool kHasArguments = false;
  using Fields = std::tuple<Interval<1, 2, &CollectiveIssue::begin, &CollectiveIssue::end>,
                            Field<3, &CollectiveIssue::name>, Field<4, &CollectiveIssue::group>,
                            Field<5, &CollectiveIssue::correlation>, Field<6, &CollectiveIssue::bytes>,
                            Field<7, &CollectiveIssue::operation>, Field<8, &CollectiveIssue::sequence>,
                            Field<9, &CollectiveIssue::data_type>, Field<10, &CollectiveIssue::peer>,
                            Field<11, &CollectiveIssue::algorithm>, Field<12, &CollectiveIssue::protocol>,
                            Field<13, &CollectiveIssue::channels>>;
};

template <>
struct Schema<IndexEntry> {
  static constexpr bool kHasLane = false;
  static constexpr bool kHasArguments = false;
  using Fields =
      std::tuple<Field<1, &IndexEntry::kind>, Field<2, &IndexEntry::flags>, Field<3, &IndexEntry::first_id>,
                 Field<4, &IndexEntry::count>, Field<5, &IndexEntry::size>, Field<6, &IndexEntry::begin>,
                 Field<7, &IndexEntry::end>>;
};

// Columns of the argument rows (kinds with arguments), and the column of the event rows that says how many
// each has.
inline constexpr std::uint8_t kArgumentCountId = 255;
inline constexpr std::uint8_t kArgumentKeyId = 1;
inline constexpr std::uint8_t kArgumentTypeId = 2;
inline constexpr std::uint8_t kArgumentBitsId = 3;

using EventTypes = std::tuple<HostRange, OpenRange, Mark, Counter, DeviceActivity, ApiCall, Collective, Step,
                              ClockSnapshot, Drop, CollectiveIssue>;

// Calls visit(field) with a default-constructed Field or Interval for each declaration of E, in order.
template <class E, class Visit>
constexpr void for_each_field(Visit&& visit) {
  std::apply([&](auto... fields) { (visit(fields), ...); }, typename Schema<E>::Fields{});
}

template <class F>
inline constexpr bool is_interval = requires {
  F::kBegin;
};

// The instants at which an event begins and ends; equal for those that have one instant only.
template <class E>
constexpr Nanoseconds begin_of(const E& event) {
  if constexpr (requires { event.begin; }) {
    return event.begin;
  } else {
    return event.time;
  }
}
template <class E>
constexpr Nanoseconds end_of(const E& event) {
  if constexpr (requires { event.end; }) {
    return event.end;
  } else {
    return begin_of(event);
  }
}

}  // namespace lockstep::trace::format

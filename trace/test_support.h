// What the tests of this folder share: temporary folders, random events, and a plain in-memory record of what
// was written.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/temporary_folder.h"
#include "trace/format/schema.h"
#include "trace/reader.h"
#include "trace/writer.h"

namespace lockstep::trace::test {

using lockstep::test::TemporaryFolder;

inline std::vector<std::byte> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline void write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

template <class T>
T must(Result<T> result) {
  if (!result.ok()) {
    ADD_FAILURE() << result.error().message;
    std::abort();
  }
  return std::move(result).value();
}

inline void expect_ok(const Status& status) {
  EXPECT_TRUE(status.ok()) << status.error().message;
}

template <class E>
struct WithArguments {
  E event;
  std::vector<Argument> arguments;
  bool operator==(const WithArguments&) const = default;
};

template <class E>
std::vector<WithArguments<E>> read_all(const Reader& reader, Status& status,
                                       const Selection& selection = {}) {
  std::vector<WithArguments<E>> events;
  status = reader.read_with_arguments<E>(
      selection,
      std::function<void(const E&, std::span<const Argument>)>([&](const E& event, auto arguments) {
        events.push_back({event, {arguments.begin(), arguments.end()}});
      }));
  return events;
}

template <class E>
std::vector<WithArguments<E>> read_all(const Reader& reader, const Selection& selection = {}) {
  Status status;
  std::vector<WithArguments<E>> events = read_all<E>(reader, status, selection);
  expect_ok(status);
  return events;
}

// Events of one kind, in the order in which they were appended.
template <class E>
using Events = std::vector<WithArguments<E>>;

// Every kind's events.
template <class... E>
std::tuple<Events<E>...> record_of(std::tuple<E...>*);
using Record = decltype(record_of(static_cast<format::EventTypes*>(nullptr)));

template <class Visit>
void for_each_kind(Visit visit) {
  std::apply([&](const auto&... event) { (visit(event), ...); }, format::EventTypes{});
}

inline Record read_everything(const Reader& reader, Status& status) {
  Record record;
  for_each_kind([&]<class E>(const E&) {
    Status of_kind;
    std::get<Events<E>>(record) = read_all<E>(reader, of_kind);
    if (!of_kind.ok() && status.ok()) status = of_kind;
  });
  return record;
}

// Makes up events. The same seed makes the same ones, on every standard library.
class RandomEvents {
 public:
  explicit RandomEvents(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }

  // Small, large, negative and extreme numbers.
  std::uint64_t number() {
    switch (below(6)) {
      case 0:
        return below(4);
      case 1:
        return below(1000);
      case 2:
        return engine_() >> below(64);
      case 3:
        return 0 - below(1000);
      case 4:
        return std::uint64_t{1} << 63;
      default:
        return (std::uint64_t{1} << 63) - 1;
    }
  }

  // Every field of an event. Ids of lanes are below `lanes`, of groups below `groups` or kNoGroup.
  template <class E>
  E event(std::uint32_t lanes, std::uint32_t groups) {
    E event;
    format::for_each_field<E>([&](auto field) {
      using F = decltype(field);
      if constexpr (format::is_interval<F>) {
        event.*F::kBegin = time();
        event.*F::kEnd = below(8) == 0 ? time() : after(event.*F::kBegin, below(1U << 20));
      } else if constexpr (std::is_same_v<typename F::Value, Nanoseconds>) {
        event.*F::kPointer = time();
      } else if constexpr (std::is_same_v<typename F::Value, bool>) {
        event.*F::kPointer = below(2) == 0;
      } else if constexpr (std::is_same_v<typename F::Value, double>) {
        event.*F::kPointer =
            static_cast<double>(static_cast<std::int64_t>(number())) / 3;  // not NaN, which equals nothing
      } else {
        event.*F::kPointer = format::from_bits<typename F::Value>(number());
      }
    });
    if constexpr (format::Schema<E>::kHasLane) event.lane = static_cast<LaneId>(below(lanes));
    if constexpr (std::is_same_v<E, HostRange>) event.end_lane = static_cast<LaneId>(below(lanes));
    if constexpr (requires { event.group; }) {
      event.group = below(4) == 0 ? kNoGroup : static_cast<GroupId>(below(groups));
    }
    return event;
  }

  std::vector<Argument> arguments() {
    std::vector<Argument> arguments(below(3) == 0 ? below(5) : 0);
    for (Argument& argument : arguments) {
      argument = {static_cast<StringId>(below(100)), static_cast<ArgumentType>(1 + below(5)), number()};
    }
    return arguments;
  }

  std::string text(std::size_t size) {
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>(below(256));
    return text;
  }

 private:
  // Beyond the last instant time begins anew.
  static Nanoseconds after(Nanoseconds time, std::uint64_t duration) {
    return static_cast<Nanoseconds>(static_cast<std::uint64_t>(time) + duration);
  }

  Nanoseconds time() {
    // A clock that mostly runs forward; now and then it leaps anywhere.
    if (below(64) == 0) return static_cast<Nanoseconds>(number());
    clock_ = after(clock_, below(5000));
    return clock_;
  }

  std::mt19937_64 engine_;
  Nanoseconds clock_ = 1'000'000'000'000;
};

// Appends a random event of a random kind and remembers it.
inline void append_random(RandomEvents& random, std::uint32_t lanes, std::uint32_t groups, Writer& writer,
                          Record& record) {
  const std::uint64_t chosen = random.below(std::tuple_size_v<format::EventTypes>);
  std::uint64_t kind = 0;
  for_each_kind([&]<class E>(const E&) {
    if (kind++ != chosen) return;
    WithArguments<E> made{random.event<E>(lanes, groups), {}};
    if constexpr (format::Schema<E>::kHasArguments) {
      made.arguments = random.arguments();
      writer.append(made.event, made.arguments);
    } else {
      writer.append(made.event);
    }
    std::get<Events<E>>(record).push_back(std::move(made));
  });
}

// The events of one lane, or all of a kind without lanes. What is kept is in order only within a lane.
template <class E>
Events<E> of_lane(const Events<E>& events, LaneId lane) {
  Events<E> found;
  for (const WithArguments<E>& each : events) {
    if constexpr (format::Schema<E>::kHasLane) {
      if (each.event.lane != lane) continue;
    }
    found.push_back(each);
  }
  return found;
}

inline void expect_same_by_lane(const Record& expected, const Record& actual, std::uint32_t lanes) {
  for_each_kind([&]<class E>(const E&) {
    const Events<E>& wanted = std::get<Events<E>>(expected);
    const Events<E>& got = std::get<Events<E>>(actual);
    EXPECT_EQ(wanted.size(), got.size()) << to_string(format::Schema<E>::kKind);
    for (LaneId lane = 0; lane < lanes; ++lane) {
      EXPECT_TRUE(of_lane(wanted, lane) == of_lane(got, lane))
          << to_string(format::Schema<E>::kKind) << " of lane " << lane;
    }
  });
}

}  // namespace lockstep::trace::test

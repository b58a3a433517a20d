// Calls everything that a Reader offers on bytes that may be anything: what the mutation test and the fuzz
// target share. Aborts if the reader breaks a promise that holds for every file.
#pragma once

#include <stdlib.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/format/schema.h"
#include "trace/reader.h"

namespace lockstep::trace::test {

struct Exercise {
  bool opened = false;
  bool verified = false;  // all chunks could be read
};

inline void must_hold(bool promise) {
  if (!promise) abort();
}

template <class E>
void exercise_kind(const Reader& reader) {
  std::uint64_t visited = 0;
  std::uint64_t sum = 0;
  const auto visit = [&](const E& event, std::span<const Argument> arguments) {
    ++visited;
    if constexpr (format::Schema<E>::kHasLane) must_hold(event.lane < reader.lanes().size());
    if constexpr (requires { event.end_lane; }) must_hold(event.end_lane < reader.lanes().size());
    if constexpr (requires { event.group; })
      must_hold(event.group == kNoGroup || event.group < reader.groups().size());
    if constexpr (requires { event.name; }) sum += reader.string(event.name).size();
    for (const Argument& argument : arguments) sum += reader.string(argument.key).size() + argument.bits;
  };
  const Status all = reader.read_with_arguments<E>(
      Selection{}, std::function<void(const E&, std::span<const Argument>)>(visit));
  must_hold(visited <= reader.count(format::Schema<E>::kKind));
  if (all.ok()) must_hold(visited == reader.count(format::Schema<E>::kKind));
  // Whatever is in the middle of the first chunk's time and lane.
  for (const ChunkInfo& chunk : reader.chunks()) {
    if (chunk.kind != format::Schema<E>::kKind) continue;
    const Selection some{chunk.lane, chunk.begin, chunk.begin / 2 + chunk.end / 2};
    std::vector<E> events;
    static_cast<void>(reader.read(some, events));
    for (const E& event : events) must_hold(format::begin_of(event) <= some.end);
    break;
  }
}

inline Exercise exercise_reader(std::span<const std::byte> bytes) {
  Exercise outcome;
  Result<Reader> opened = Reader::open(bytes, "mutated");
  if (!opened.ok()) {
    must_hold(!opened.error().message.empty());
    return outcome;
  }
  const Reader reader = std::move(opened).value();
  outcome.opened = true;
  must_hold(reader.complete() || !reader.warnings().empty());
  std::apply([&](const auto&... event) { (exercise_kind<std::decay_t<decltype(event)>>(reader), ...); },
             format::EventTypes{});
  outcome.verified = reader.verify().ok();
  static_cast<void>(reader.unfinished_ranges());
  return outcome;
}

}  // namespace lockstep::trace::test

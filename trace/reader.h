// Reads a trace file (docs/trace-format.md).
//
// The file is mapped. A cleanly closed file opens by its footer alone, whatever its size; one without a
// footer (the process was killed, the file is still being written, or was cut) is scanned chunk by chunk and
// readable up to its last whole chunk. Reading a lane and a time range touches only the chunks that hold
// them. A Reader is immutable after open(): any number of threads may read from it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/events/event.h"
#include "trace/format/warnings.h"

namespace lockstep::trace {

// Where a chunk stands and what it holds; from the footer, or from the scan.
struct ChunkInfo {
  EventKind kind = EventKind::host_range;
  std::optional<LaneId> lane;  // all events of the chunk are of this lane; absent for kinds without lanes
  Nanoseconds begin = 0;       // smallest begin (time)
  Nanoseconds end = 0;         // greatest end
  std::uint64_t count = 0;     // events
  std::uint64_t offset = 0;    // in the file
  std::uint64_t size = 0;      // in the file, header included
};

// Which events to read. Absent fields select everything; the time range selects events that intersect [begin,
// end].
struct Selection {
  std::optional<LaneId> lane = std::nullopt;
  Nanoseconds begin = std::numeric_limits<Nanoseconds>::min();
  Nanoseconds end = std::numeric_limits<Nanoseconds>::max();
};

class Reader {
 public:
  // Whether bytes from the beginning of a file, at least 8, are those of a trace file.
  static bool recognises(std::span<const std::byte> beginning) noexcept;
  static Result<Reader> open(const std::filesystem::path& path);
  // The same over bytes in memory, which must outlive the Reader. `name` stands in messages.
  static Result<Reader> open(std::span<const std::byte> bytes, std::string name);

  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  // True if the footer was found: the writer closed the file.
  bool complete() const;
  // What is wrong with the file, in words: "cut after 3 of … bytes", "chunk at 4711 damaged, 16384 host
  // ranges lost". Damage found while reading events is in the Status of that call.
  const std::vector<std::string>& warnings() const;
  // Whether bytes between the chunks are damaged: nobody knows what they held, nor of which time.
  bool has_gaps() const;
  // The chunks of events that can't be read, in file order. Decodes every chunk.
  std::vector<ChunkInfo> damaged_chunks() const;

  const std::map<std::string, std::string>& metadata() const;
  std::string_view string(StringId id) const;  // "" for an id that is not in the table
  std::size_t string_count() const;
  const std::vector<Lane>& lanes() const;
  const std::vector<Group>& groups() const;
  std::span<const ChunkInfo> chunks() const;
  std::uint64_t count(EventKind kind) const;

  // Calls `visit` for each selected event in file order (per lane: order of being appended). E is one of the
  // event structs of trace/events/event.h. An OpenRange is selected if it begins before the selection ends;
  // kinds without lanes are not selected by a lane. Every lane and end_lane is an index into lanes(), every
  // group one into groups() or kNoGroup. Damaged chunks are skipped; the Status then says what was lost, and
  // all other events have been visited.
  template <class E>
  Status read(const Selection& selection, const std::function<void(const E&)>& visit) const;

  // The same, appended to `events`; the fast way.
  template <class E>
  Status read(const Selection& selection, std::vector<E>& events) const;

  // Ranges, open ranges and marks together with their arguments. The span is valid during the call.
  template <class E>
  Status read_with_arguments(const Selection& selection,
                             const std::function<void(const E&, std::span<const Argument>)>& visit) const;

  // Ranges that were begun and never ended in this file, each once: open ranges without a HostRange of the
  // same lane, begin, name, depth and nesting. read<OpenRange>() also yields those that ended later.
  Result<std::vector<OpenRange>> unfinished_ranges() const;

  // Every chunk of events decoded and checksummed; the tables were when the file was opened, and warnings()
  // tells of them.
  Status verify() const;

 private:
  struct State;
  explicit Reader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lockstep::trace

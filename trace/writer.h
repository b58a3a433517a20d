// Writes a trace file (docs/trace-format.md). One thread uses a Writer; it needs no lock.
//
// Made to live in other people's processes: no function throws; an allocation failure or a full disk becomes
// a Status, after which the writer keeps accepting events and drops them, counting. Needs libc and libzstd
// only.
//
// Events are buffered per (kind, lane) column block and compressed when a block is full or flush() is called.
// After flush() returns, everything appended so far is in the file (in the kernel's hands: it survives the
// death of the process). A file cut at any byte is readable up to its last whole chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "trace/events/event.h"

namespace lockstep::trace {

struct WriterOptions {
  int compression_level = 1;               // zstd
  std::uint32_t events_per_chunk = 16384;  // a block is written when it holds this many
  bool exclusive = true;                   // fail if the file exists (O_EXCL) instead of truncating it
  std::size_t memory_limit =
      64U << 20;  // bytes of buffered events above which all blocks are written, full or not
  // Above 0: events are held in memory as compressed chunks instead of being written, those that ended no
  // longer before the newest one than this, and no more than `hold_bytes` of them; the oldest are forgotten
  // first. release_held() writes them. Strings, lanes, groups and metadata are written as ever.
  Nanoseconds hold_time = 0;
  std::size_t hold_bytes = 32U << 20;
};

// Metadata of a file that somebody cut while it was written: the size to which it was cut. Part of what stood
// behind that is lost, which its chunks' checksums tell.
inline constexpr const char* kCutFromOutside = "cut_from_outside";
// Of a file that was not closed, and holds all the same what its process had recorded when it ended: "yes".
inline constexpr const char* kWrittenAfterDeath = "written_after_death";

class Writer {
 public:
  // Creates `path`. The error names the file and the reason.
  static Result<Writer> create(const char* path, const WriterOptions& options = {}) noexcept;

  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();  // closes, ignoring errors

  // Metadata of the file: "rank", "world_size", "host", "process", "command", … A later value replaces an
  // earlier one.
  void set_metadata(std::string_view key, std::string_view value) noexcept;

  // Room for a value that may have to be said when nothing can be written any more, on a full disk: blanks at
  // first, replaced in place. One a file, before the first flush().
  void reserve_metadata(std::string_view key, std::size_t room) noexcept;
  // Replaces it, cut to its room; also after an error, until close().
  Status replace_reserved(std::string_view value) noexcept;

  // The id of a string, added to the table if new.
  StringId intern(std::string_view text) noexcept;
  LaneId add_lane(const Lane& lane) noexcept;
  void rename_lane(LaneId lane, std::string_view name) noexcept;
  GroupId add_group(const Group& group) noexcept;

  // Writes metadata, lanes and groups once more at the next flush, as close() does: a file that is damaged
  // where they stand can still be read then.
  void repeat_tables() noexcept;

  void append(const HostRange& event, std::span<const Argument> arguments = {}) noexcept;
  void append(const OpenRange& event, std::span<const Argument> arguments = {}) noexcept;
  void append(const Mark& event, std::span<const Argument> arguments = {}) noexcept;
  void append(const Counter& event) noexcept;
  void append(const DeviceActivity& event) noexcept;
  void append(const ApiCall& event) noexcept;
  void append(const Collective& event) noexcept;
  void append(const Step& event) noexcept;
  void append(const ClockSnapshot& event) noexcept;
  void append(const Drop& event) noexcept;
  void append(const CollectiveIssue& event) noexcept;

  // Writes all that is buffered: seal(), then write().
  Status flush() noexcept;
  // Turns all that was appended into chunks that write() has only to hand to the kernel.
  void seal() noexcept;
  Status write() noexcept;
  // In the memory of a process whose thread was stopped for good in write(): what that had not done yet.
  Status resume_write() noexcept;
  // Flushes, writes the footer index and closes the file. Events appended later are lost and counted.
  Status close() noexcept;
  // Closes the descriptor and writes nothing: for the copy of a Writer that a forked child inherits. What the
  // parent's Writer does is not affected. Events appended later are lost and counted.
  void abandon() noexcept;

  // The file's; -1 once it is closed.
  int descriptor() const noexcept;
  // False: the program that we are a guest of has closed the descriptor, and the path leads to the file no
  // more. What is appended from here on would be lost.
  bool hold_file() noexcept;

  std::uint64_t events_appended() const noexcept;
  // Events that could not be kept since an error.
  std::uint64_t events_lost() const noexcept;
  std::uint64_t bytes_written() const noexcept;
  // Of one kind, since the file was created.
  std::uint64_t events_appended(EventKind kind) const noexcept;

  // --- with WriterOptions::hold_time ---
  // Seals what is buffered and writes all that is held, in the order in which it came. Each event is written
  // once.
  Status release_held() noexcept;
  // Bytes of memory that held chunks take.
  std::size_t bytes_held() const noexcept;
  // Everything that ended at this time or later is held or written; kUnknownTime where nothing was forgotten
  // since the last release_held().
  Nanoseconds held_since() const noexcept;

 private:
  struct State;
  explicit Writer(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep::trace

// What a Writer holds (trace/writer.h). Functions here may throw std::bad_alloc; Writer catches it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "trace/format/block.h"
#include "trace/format/chunk.h"
#include "trace/format/columns.h"
#include "trace/format/compression.h"
#include "trace/format/held_chunks.h"
#include "trace/format/output_file.h"
#include "trace/format/schema.h"
#include "trace/format/string_pool.h"
#include "trace/writer.h"

namespace lockstep::trace {

struct Writer::State {
  explicit State(const WriterOptions& options);

  template <class E>
  void append(const E& event, std::span<const Argument> arguments);

  void add_lane_row(LaneId id);
  void add_group_row(const Group& group);
  // Tables that wait for the next chunk do not grow without bound.
  void write_large_tables();
  void reserve_metadata(std::string_view key, std::size_t room);
  Status replace_reserved(std::string_view value);
  // Writes metadata, lanes and groups once more.
  void repeat_tables();
  // Turns all that was appended into chunks in the file's buffer.
  void seal_all();
  // Looks whether somebody has cut the file, and says so in its metadata.
  void notice_cut();
  // Hands the buffer to the kernel.
  void write_out();
  // Goes on where a thread that is gone had stopped in that.
  void resume_write_out();
  // Puts the chunks that are held into the file's buffer.
  void release_held();
  // Both, then the footer.
  void finish();

  // Nothing more is written. What is buffered is lost and counted.
  void fail(Error error);
  // The same, but what is buffered as whole chunks is still written. Does not throw.
  void fail_out_of_memory() noexcept;
  // The event cannot be kept; the writer goes on.
  void refuse(const std::string& reason);
  // The buffered events count as lost.
  void drop_buffered() noexcept;
  // What flush() and close() return.
  Status report() const noexcept;
  bool accepts() const { return file.is_open() && status.ok(); }

  WriterOptions options;
  format::OutputFile file;
  Status status;    // the failure that ended writing
  Status refusals;  // the first event that could not be taken, and why
  std::uint64_t appended = 0;
  std::uint64_t lost = 0;
  std::array<std::uint64_t, 16> appended_by_kind{};
  format::HeldChunks held;

  format::StringPool strings;
  std::vector<Lane> lanes;
  std::uint32_t groups = 0;
  std::map<std::string, std::string> metadata;  // not written yet

 private:
  template <class E>
  using Blocks = std::vector<format::Block<E>>;  // by lane; one only for kinds without lanes
  template <class... E>
  static std::tuple<Blocks<E>...> blocks_of(std::tuple<E...>*);
  using AllBlocks = decltype(blocks_of(static_cast<format::EventTypes*>(nullptr)));

  struct Table {
    std::vector<std::byte> body;
    std::uint32_t count = 0;
  };
  struct PendingChunk {
    std::uint64_t end = 0;  // position in the file
    std::uint64_t events = 0;
  };

  // A chunk that is overwritten where it stands, which takes no space of the disk.
  struct Reserved {
    std::string key;
    std::size_t room = 0;
    format::ChunkHeader header;
    std::uint64_t position = 0;
  };
  std::vector<std::byte> reserved_body(std::string_view value) const;

  void shed_memory();
  template <class E>
  void seal(LaneId lane, format::Block<E>& block);
  std::uint64_t release_blocks() noexcept;

  void write_tables();
  void write_index();
  void write_table(format::ChunkKind kind, std::uint32_t first_id, Table& table, std::uint16_t flags = 0);
  std::size_t open_chunk();
  void write_chunk(format::ChunkHeader header, std::span<const std::span<const std::byte>> parts);
  void enter_chunk(format::ChunkHeader header, std::size_t begin);
  void settle();

  AllBlocks blocks_;
  std::size_t block_bytes_ = 0;
  format::ColumnEncoder encoder_;
  format::Compressor compressor_;
  std::uint64_t events_in_chunks_ = 0;
  std::vector<PendingChunk> pending_chunks_;  // in the file's buffer

  Reserved reserved_;
  Table lane_rows_;
  Table group_rows_;
  // For the second time.
  Table all_group_rows_;
  std::map<std::string, std::string> all_metadata_;
  std::optional<std::uint64_t> noted_cut_;

  format::Block<format::IndexEntry> index_;
  std::uint64_t previous_index_ = 0;
};

}  // namespace lockstep::trace

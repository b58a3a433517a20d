// The tables of a trace file: strings, lanes, groups and metadata. They stand before the chunks that refer to
// them; all but the strings stand in it twice, since a file that lost them would be of no use.
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "trace/format/tables.h"
#include "trace/writer_state.h"

namespace lockstep::trace {
namespace {

using format::ChunkHeader;
using format::ChunkKind;

constexpr std::size_t kTableBytesPerChunk = 4U << 20;
constexpr std::size_t kMaxRepeatedKeys = 4096;

}  // namespace

void Writer::State::write_table(ChunkKind kind, std::uint32_t first_id, Table& table, std::uint16_t flags) {
  if (table.count == 0 || !accepts()) return;
  ChunkHeader header;
  header.kind = static_cast<std::uint8_t>(kind);
  header.flags = flags;
  header.first_id = first_id;
  header.count = table.count;
  const std::array<std::span<const std::byte>, 1> parts{table.body};
  write_chunk(header, parts);
  table = {};
  settle();
}

void Writer::State::write_tables() {
  if (!strings.pending().empty()) {
    const std::span<const std::string_view> pending = strings.pending();
    std::size_t done = 0;
    while (done < pending.size()) {
      Table table;
      std::size_t bytes = 0;
      std::size_t end = done;
      while (end < pending.size() && (end == done || bytes + pending[end].size() <= kTableBytesPerChunk)) {
        bytes += pending[end++].size();
      }
      format::encode_strings(pending.subspan(done, end - done), table.body);
      table.count = static_cast<std::uint32_t>(end - done);
      write_table(ChunkKind::strings, strings.first_pending() + static_cast<std::uint32_t>(done), table);
      done = end;
    }
    strings.pending_written();
  }
  write_table(ChunkKind::lanes, 0, lane_rows_);
  write_table(ChunkKind::groups, groups - group_rows_.count, group_rows_);
  Table table;
  for (auto& [key, value] : metadata) {
    format::encode_metadata(key, value, table.body);
    ++table.count;
    if (table.body.size() >= kTableBytesPerChunk) write_table(ChunkKind::metadata, 0, table);
    if (const auto known = all_metadata_.find(key); known != all_metadata_.end())
      known->second = std::move(value);
    else if (all_metadata_.size() < kMaxRepeatedKeys)
      all_metadata_.emplace(key, std::move(value));
  }
  metadata.clear();
  write_table(ChunkKind::metadata, 0, table);
}

// Without them a file is of no rank, and its streams of no device. (Strings, which may be many, cost names.)
void Writer::State::repeat_tables() {
  if (!accepts()) return;
  const auto write = [this](ChunkKind kind, Table& table) {
    if (table.body.size() <= kTableBytesPerChunk) write_table(kind, 0, table, format::kCopy);
  };
  Table table;
  for (const auto& [key, value] : all_metadata_) {
    format::encode_metadata(key, value, table.body);
    ++table.count;
  }
  write(ChunkKind::metadata, table);
  table = {};
  for (std::size_t id = 0; id < lanes.size() && table.body.size() <= kTableBytesPerChunk; ++id) {
    format::encode_lane(static_cast<LaneId>(id), lanes[id], table.body);
    ++table.count;
  }
  write(ChunkKind::lanes, table);
  table = all_group_rows_;
  write(ChunkKind::groups, table);
}

void Writer::State::write_large_tables() {
  if (strings.pending_bytes() >= kTableBytesPerChunk ||
      strings.pending().size() >= kTableBytesPerChunk / 16 || lane_rows_.body.size() >= kTableBytesPerChunk ||
      group_rows_.body.size() >= kTableBytesPerChunk) {
    write_tables();
  }
}

void Writer::State::add_group_row(const Group& group) {
  format::encode_group(group, group_rows_.body);
  ++group_rows_.count;
  ++groups;
  if (all_group_rows_.body.size() > kTableBytesPerChunk) return;  // too many to stand in the file twice
  format::encode_group(group, all_group_rows_.body);
  ++all_group_rows_.count;
}

void Writer::State::add_lane_row(LaneId id) {
  format::encode_lane(id, lanes[id], lane_rows_.body);
  ++lane_rows_.count;
}

}  // namespace lockstep::trace

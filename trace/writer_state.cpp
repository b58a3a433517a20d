#include "trace/writer_state.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "trace/format/checksum.h"
#include "trace/format/tables.h"

namespace lockstep::trace {
namespace {

using format::ChunkHeader;
using format::ChunkKind;

constexpr std::size_t kBufferBeforeWrite = 1U << 20;
constexpr std::uint32_t kEntriesPerIndexChunk = 4096;

}  // namespace

Writer::State::State(const WriterOptions& writer_options)
    : options(writer_options),
      held(writer_options.hold_time, writer_options.hold_bytes),
      compressor_(writer_options.compression_level) {
  options.memory_limit = std::max<std::size_t>(options.memory_limit, 1U << 20);
  options.events_per_chunk =
      std::clamp<std::uint32_t>(options.events_per_chunk, 1, format::kMaxEventsPerChunk);
}

void Writer::State::fail(Error error) {
  status = std::move(error);
  drop_buffered();
}

void Writer::State::drop_buffered() noexcept {
  for (const PendingChunk& chunk : pending_chunks_) {
    if (chunk.end > file.written()) lost += chunk.events;
  }
  pending_chunks_.clear();
  lost += release_blocks();
  lost += held.clear();
  file.buffer() = {};
}

Status Writer::State::report() const noexcept {
  try {
    return status.ok() ? refusals : status;
  } catch (const std::bad_alloc&) {
    return Error{"out of memory"};
  }
}

void Writer::State::fail_out_of_memory() noexcept {
  if (!status.ok()) return;
  // The last chunk in the buffer may be unfinished.
  const std::uint64_t whole = pending_chunks_.empty() ? file.written() : pending_chunks_.back().end;
  file.buffer().resize(std::min<std::size_t>(file.buffer().size(), whole - file.written()));
  try {
    write_out();
    if (status.ok())
      fail(Error{"trace file '" + file.path() + "': out of memory; events from here on are lost"});
  } catch (const std::bad_alloc&) {
    fail(Error{"out of memory"});  // short enough to need none
  }
}

void Writer::State::refuse(const std::string& reason) {
  ++lost;
  if (refusals.ok()) refusals = Error{"trace file '" + file.path() + "': " + reason};
}

std::uint64_t Writer::State::release_blocks() noexcept {
  std::uint64_t events = 0;
  const auto release = [&](auto& blocks) {
    for (auto& block : blocks) {
      events += block.size();
      block.release();
    }
  };
  std::apply([&](auto&... blocks) { (release(blocks), ...); }, blocks_);
  block_bytes_ = 0;
  return events;
}

template <class E>
void Writer::State::append(const E& event, std::span<const Argument> arguments) {
  ++appended;
  ++appended_by_kind[static_cast<std::size_t>(format::Schema<E>::kKind)];
  if (!accepts()) [[unlikely]] {
    ++lost;
    return;
  }
  std::uint32_t row = 0;
  if constexpr (format::Schema<E>::kHasLane) row = event.lane;
  Blocks<E>& blocks = std::get<Blocks<E>>(blocks_);
  if (row >= blocks.size()) [[unlikely]] {
    if (format::Schema<E>::kHasLane && row >= lanes.size()) {
      return refuse(std::string("a ") + to_string(format::Schema<E>::kKind) + " on lane " +
                    std::to_string(row) + ", which add_lane() never returned, was not kept");
    }
    blocks.resize(std::max<std::size_t>(row + 1, lanes.size()));
  }
  format::Block<E>& block = blocks[row];
  if constexpr (format::Schema<E>::kHasArguments) {
    if (arguments.size() > format::kMaxArgumentsPerChunk) {
      return refuse(std::string("a ") + to_string(format::Schema<E>::kKind) + " with " +
                    std::to_string(arguments.size()) +
                    " arguments, more than a chunk can hold, was not kept");
    }
    if (block.argument_count() + arguments.size() > format::kMaxArgumentsPerChunk) seal(row, block);
  }
  if (block.full()) [[unlikely]] {
    if (block.size() >= options.events_per_chunk) seal(row, block);
    if (!accepts()) {
      ++lost;
      return;
    }
    if (block.full()) {
      const std::size_t before = block.allocated_bytes();
      block.grow(options.events_per_chunk);
      block_bytes_ += block.allocated_bytes() - before;
    }
  }
  if constexpr (format::Schema<E>::kHasArguments) {
    if (!arguments.empty() || block.has_arguments()) {
      const std::size_t before = block.allocated_bytes();
      block.append_arguments(arguments);
      block_bytes_ += block.allocated_bytes() - before;
    }
  }
  block.append(event);
  if (block_bytes_ > options.memory_limit) [[unlikely]]
    shed_memory();
}

void Writer::State::shed_memory() {
  seal_all();
  if (accepts()) release_blocks();
}

template <class E>
void Writer::State::seal(LaneId lane, format::Block<E>& block) {
  if (block.size() == 0) return;
  write_tables();
  if (!accepts()) return;
  ChunkHeader header;
  header.kind = static_cast<std::uint8_t>(format::Schema<E>::kKind);
  if constexpr (format::Schema<E>::kHasLane) {
    header.flags = format::kHasLane;
    header.first_id = lane;
  }
  header.count = block.size();
  std::tie(header.begin, header.end) = block.time_bounds();
  block.encode(encoder_);
  write_chunk(header, encoder_.finish());
  block.clear();
  settle();
}

void Writer::State::seal_all() {
  const auto seal_each = [&](auto& blocks) {
    for (std::size_t lane = 0; lane < blocks.size(); ++lane) seal(static_cast<LaneId>(lane), blocks[lane]);
  };
  std::apply([&](auto&... blocks) { (seal_each(blocks), ...); }, blocks_);
  write_tables();
}

// Room for a chunk's header at the end of the buffer: its position is known before the body, its contents
// only after. All of entering the chunk that can fail comes here.
std::size_t Writer::State::open_chunk() {
  std::vector<std::byte>& buffer = file.buffer();
  const std::size_t begin = buffer.size();
  if (pending_chunks_.size() == pending_chunks_.capacity())
    pending_chunks_.reserve(2 * pending_chunks_.size() + 16);
  if (index_.full()) index_.grow(kEntriesPerIndexChunk);
  buffer.resize(begin + format::kChunkHeaderSize);
  return begin;
}

void Writer::State::write_chunk(ChunkHeader header, std::span<const std::span<const std::byte>> parts) {
  const std::size_t begin = open_chunk();
  std::vector<std::byte>& buffer = file.buffer();
  const std::size_t body = buffer.size();
  std::size_t raw_size = 0;
  for (const auto& part : parts) raw_size += part.size();
  if (!compressor_.compress(parts, buffer)) throw std::bad_alloc();
  header.codec = format::Codec::zstd;
  if (buffer.size() - body >= raw_size) {
    buffer.resize(body);
    for (const auto& part : parts) buffer.insert(buffer.end(), part.begin(), part.end());
    header.codec = format::Codec::stored;
  }
  header.raw_size = static_cast<std::uint32_t>(raw_size);
  header.body_size = static_cast<std::uint32_t>(buffer.size() - body);
  header.body_checksum = format::checksum(std::span(buffer).subspan(body));
  if (options.hold_time > 0 && format::holds_events(header.kind)) {
    held.add(header, std::span(buffer).subspan(body));
    buffer.resize(begin);
    return;
  }
  enter_chunk(header, begin);
}

// A chunk whose body stands in the buffer, behind room for its header at `begin`. Precondition: nothing here
// needs memory any more.
void Writer::State::enter_chunk(ChunkHeader header, std::size_t begin) {
  std::vector<std::byte>& buffer = file.buffer();
  const std::uint64_t position = file.position() - (buffer.size() - begin);
  header.events_before = events_in_chunks_;
  const format::ChunkHeaderBytes bytes = format::encode_chunk_header(header, position);
  std::copy(bytes.begin(), bytes.end(), buffer.begin() + static_cast<std::ptrdiff_t>(begin));

  const bool events = format::holds_events(header.kind);
  if (events) events_in_chunks_ += header.count;
  pending_chunks_.push_back({file.position(), events ? header.count : 0});
  if (header.kind != static_cast<std::uint8_t>(ChunkKind::index)) {
    const auto size = static_cast<std::uint32_t>(buffer.size() - begin);
    index_.append(
        {header.kind, header.flags, header.first_id, header.count, size, header.begin, header.end, position});
  }
}

std::vector<std::byte> Writer::State::reserved_body(std::string_view value) const {
  std::string padded(value.substr(0, reserved_.room));
  padded.resize(reserved_.room, ' ');
  std::vector<std::byte> body;
  format::encode_metadata(reserved_.key, padded, body);
  return body;
}

void Writer::State::reserve_metadata(std::string_view key, std::size_t room) {
  reserved_.key = key;
  reserved_.room = room;
  const std::vector<std::byte> body = reserved_body({});
  ChunkHeader& header = reserved_.header;
  header.kind = static_cast<std::uint8_t>(ChunkKind::metadata);
  header.count = 1;
  header.codec = format::Codec::stored;
  header.raw_size = header.body_size = static_cast<std::uint32_t>(body.size());
  header.body_checksum = format::checksum(body);
  header.events_before = events_in_chunks_;
  const std::size_t begin = open_chunk();
  std::vector<std::byte>& buffer = file.buffer();
  buffer.insert(buffer.end(), body.begin(), body.end());
  reserved_.position = file.position() - (buffer.size() - begin);
  enter_chunk(header, begin);
  settle();
}

Status Writer::State::replace_reserved(std::string_view value) {
  const std::vector<std::byte> body = reserved_body(value);
  if (reserved_.room == 0 || reserved_.position + format::kChunkHeaderSize + body.size() > file.written())
    return Error{"trace file '" + file.path() + "': no room was reserved in it"};
  reserved_.header.body_checksum = format::checksum(body);
  const format::ChunkHeaderBytes header = format::encode_chunk_header(reserved_.header, reserved_.position);
  std::vector<std::byte> bytes(header.begin(), header.end());
  bytes.insert(bytes.end(), body.begin(), body.end());
  return file.overwrite(reserved_.position, bytes);
}

void Writer::State::release_held() {
  while (!held.empty()) {
    const format::HeldChunks::Chunk& chunk = held.front();
    std::vector<std::byte>& buffer = file.buffer();
    const std::size_t begin = buffer.size();
    if (pending_chunks_.size() == pending_chunks_.capacity())
      pending_chunks_.reserve(2 * pending_chunks_.size() + 16);
    if (index_.full()) index_.grow(kEntriesPerIndexChunk);
    buffer.resize(begin + format::kChunkHeaderSize);
    buffer.insert(buffer.end(), chunk.body.begin(), chunk.body.end());
    enter_chunk(chunk.header, begin);
    held.pop_front();
    settle();
    if (!accepts()) return;
  }
  held.written();
}

// What follows a chunk, once its contents are no longer held elsewhere too.
void Writer::State::settle() {
  if (index_.size() == kEntriesPerIndexChunk) write_index();
  if (file.buffer().size() < kBufferBeforeWrite) return;
  notice_cut();
  write_out();
}

void Writer::State::write_index() {
  ChunkHeader header;
  header.kind = static_cast<std::uint8_t>(ChunkKind::index);
  header.count = index_.size();
  header.begin = static_cast<std::int64_t>(previous_index_);
  index_.encode(encoder_);
  const std::uint64_t position = file.position();
  write_chunk(header, encoder_.finish());
  index_.clear();
  previous_index_ = position;
}

// What follows is written where it would stand: what was cut off is a hole. Said in the file, and once more
// in the copy of its tables.
void Writer::State::notice_cut() {
  if (!accepts()) return;
  const std::optional<std::uint64_t> cut = file.cut_to();
  if (!cut || cut == noted_cut_) return;
  noted_cut_ = cut;
  metadata[kCutFromOutside] = std::to_string(*cut);
}

void Writer::State::write_out() {
  if (!accepts()) return;
  const Status written = file.write_buffer();
  if (!written.ok()) return fail(written.error());
  pending_chunks_.clear();
}

void Writer::State::resume_write_out() {
  if (!accepts()) return;
  const Status written = file.resume_writing();
  if (!written.ok()) return fail(written.error());
  pending_chunks_.clear();
}

void Writer::State::finish() {
  notice_cut();
  seal_all();
  repeat_tables();
  if (!accepts()) return;
  write_index();
  const format::TrailerBytes trailer = format::encode_trailer(previous_index_, file.position());
  file.buffer().insert(file.buffer().end(), trailer.begin(), trailer.end());
  write_out();
}

template void Writer::State::append(const HostRange&, std::span<const Argument>);
template void Writer::State::append(const OpenRange&, std::span<const Argument>);
template void Writer::State::append(const Mark&, std::span<const Argument>);
template void Writer::State::append(const Counter&, std::span<const Argument>);
template void Writer::State::append(const DeviceActivity&, std::span<const Argument>);
template void Writer::State::append(const ApiCall&, std::span<const Argument>);
template void Writer::State::append(const Collective&, std::span<const Argument>);
template void Writer::State::append(const Step&, std::span<const Argument>);
template void Writer::State::append(const ClockSnapshot&, std::span<const Argument>);
template void Writer::State::append(const Drop&, std::span<const Argument>);
template void Writer::State::append(const CollectiveIssue&, std::span<const Argument>);

}  // namespace lockstep::trace

#include "trace/format/scan.h"

#include <algorithm>

#include "trace/format/body.h"
#include "trace/format/chunk.h"
#include "trace/format/columns.h"
#include "trace/format/event_decoder.h"
#include "trace/format/warnings.h"

namespace lockstep::trace::format {
namespace {

bool is_index(std::uint8_t kind) {
  return kind == static_cast<std::uint8_t>(ChunkKind::index);
}

// Appends the chunks listed by the index chunk at `position`, and says where the index chunk before it stands
// (0: none). An empty string, or what is wrong.
std::string read_index_chunk(std::span<const std::byte> file, std::uint64_t position, BodyLoader& loader,
                             std::vector<IndexEntry>& entries, std::uint64_t& previous) {
  const std::optional<ChunkHeader> header = decode_chunk_header(file, position);
  if (!header || !is_index(header->kind)) return "no index stands where it should";
  std::span<const std::byte> body;
  if (std::string problem = loader.load(file, entry_of(*header, position), body); !problem.empty())
    return problem;
  if (header->count > kMaxEventsPerChunk) return "it has too many entries";
  ColumnTable table;
  if (std::string problem = table.parse(body, header->count); !problem.empty()) return problem;
  previous = static_cast<std::uint64_t>(header->begin);
  if (previous >= position) return "its links run forwards";
  std::uint64_t offset = kFileHeaderSize;
  if (previous != 0) {
    const std::optional<ChunkHeader> before = decode_chunk_header(file, previous);
    if (!before) return "the index before it is damaged";
    offset = previous + kChunkHeaderSize + before->body_size;
  }
  const std::size_t first = entries.size();
  entries.resize(first + header->count);
  EventDecoder<IndexEntry>(table).next(header->count, entries.data() + first);
  for (std::size_t i = first; i < entries.size(); ++i) {
    entries[i].offset = offset;
    offset += entries[i].size;
    if (entries[i].size < kChunkHeaderSize || offset > position) return "its sizes do not add up";
  }
  return offset == position ? "" : "its sizes do not add up";
}

std::string events_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " event" : " events");
}

// What the bytes from `from` on, too few or too damaged for a chunk, are.
std::string describe_tail(std::span<const std::byte> file, std::uint64_t from) {
  const std::uint64_t size = file.size() - from;
  if (const std::optional<ChunkHeader> header = decode_chunk_header(file, from)) {
    const std::uint64_t whole = kChunkHeaderSize + header->body_size;
    return "cut: only " + std::to_string(size) + " of the " + std::to_string(whole) +
           " bytes of its last chunk (" + std::to_string(header->count) + " rows of " +
           kind_name(header->kind) + ") are there";
  }
  return "its last " + std::to_string(size) + " bytes are no whole chunk: cut or damaged";
}

}  // namespace

std::optional<std::vector<IndexEntry>> read_index(std::span<const std::byte> file,
                                                  std::vector<std::string>& warnings) {
  const std::optional<std::uint64_t> last = decode_trailer(file);
  if (!last) return std::nullopt;
  const std::uint64_t end = file.size() - kTrailerSize;
  BodyLoader loader;
  // From the last index chunk back to the first, so each part of the list is built in front of what is there.
  std::vector<std::vector<IndexEntry>> parts;
  std::string problem;
  std::uint64_t position = *last;
  if (position >= end) problem = "its position lies outside the file";
  while (problem.empty()) {
    std::uint64_t previous = 0;
    problem = read_index_chunk(file.first(end), position, loader, parts.emplace_back(), previous);
    if (previous == 0) break;
    position = previous;
  }
  if (!problem.empty()) {
    warnings.push_back("the index in its footer is damaged (" + problem + "); the file was scanned instead");
    return std::nullopt;
  }
  std::vector<IndexEntry> entries;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    entries.insert(entries.end(), part->begin(), part->end());
  }
  return entries;
}

std::vector<IndexEntry> scan(std::span<const std::byte> file, std::vector<std::string>& warnings,
                             bool& has_gaps) {
  std::vector<IndexEntry> entries;
  std::uint64_t events = 0;      // in the chunks found, and in those known to be lost
  std::uint64_t damaged_at = 0;  // begin of the damaged part that we are in; 0: none
  std::uint64_t end_of_good = kFileHeaderSize;
  std::uint64_t tail = kFileHeaderSize;  // what follows is neither a chunk nor told yet
  const bool has_trailer = decode_trailer(file).has_value();
  const std::uint64_t end = has_trailer ? file.size() - kTrailerSize : file.size();
  const std::span<const std::byte> chunks = file.first(end);
  std::uint64_t position = kFileHeaderSize;
  while (position < end) {
    const std::optional<ChunkHeader> header = decode_chunk_header(chunks, position);
    if (!header) {
      if (damaged_at == 0) damaged_at = position;
      position = find_chunk(chunks, position + 1);
      continue;
    }
    if (damaged_at != 0) {
      std::string warning = "bytes " + std::to_string(damaged_at) + " to " + std::to_string(position - 1) +
                            " are damaged and were skipped";
      if (header->events_before > events)
        warning += ": " + events_text(header->events_before - events) + " lost";
      warnings.push_back(std::move(warning));
      has_gaps = true;
      damaged_at = 0;
    }
    events = std::max(events, header->events_before);
    tail = position;
    if (header->body_size > end - position - kChunkHeaderSize) break;
    if (!is_index(header->kind)) entries.push_back(entry_of(*header, position));
    if (holds_events(header->kind)) events += header->count;
    position += kChunkHeaderSize + header->body_size;
    end_of_good = tail = position;
  }
  if (tail < end) {
    warnings.push_back(describe_tail(chunks, tail));
    has_gaps = has_gaps || has_trailer;  // without one, the file may just have been cut there
  }
  if (!has_trailer) {
    warnings.push_back(
        std::string(kNoFooter) +
        ": its writer was killed or is still running, or its end was cut; it is readable up to byte " +
        std::to_string(end_of_good));
  }
  return entries;
}

}  // namespace lockstep::trace::format

#include "trace/format/contents.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "trace/format/body.h"
#include "trace/format/chunk.h"
#include "trace/format/scan.h"
#include "trace/format/tables.h"

namespace lockstep::trace::format {
namespace {

// Whether a file whose beginning was damaged, or cut off and filled up with zeros, is a trace.
bool holds_chunks(std::span<const std::byte> file) {
  constexpr std::size_t kLookedThrough = std::size_t{64} << 20U;
  const std::span<const std::byte> beginning = file.first(std::min(file.size(), kLookedThrough));
  return decode_trailer(file).has_value() || find_chunk(beginning, 0) < beginning.size();
}

Status check_file_header(std::span<const std::byte> file, const std::string& name, Contents& contents) {
  const std::string subject = "'" + name + "' ";
  if (file.empty())
    return Error{subject +
                 "is empty: nothing was recorded into it, its process ended at once, or its disk was full"};
  const std::optional<FileHeader> header = decode_file_header(file);
  if (!header) {
    if (file.size() < kFileHeaderSize) {
      return Error{subject + "has only " + std::to_string(file.size()) +
                   " bytes: too short for a Lockstep trace"};
    }
    if (!holds_chunks(file)) return Error{subject + "is not a Lockstep trace: it does not begin like one"};
  }
  if (!header || !header->intact) {
    contents.warnings.push_back("its file header is damaged");
  } else if (header->major > kMajorVersion) {
    return Error{subject + "has version " + std::to_string(header->major) + "." +
                 std::to_string(header->minor) +
                 " of the trace format, and this Lockstep reads versions up to " +
                 std::to_string(kMajorVersion) + ": use the Lockstep that recorded it, or a newer one"};
  }
  return {};
}

class TableReader {
 public:
  TableReader(std::span<const std::byte> file, Contents& contents) : file_(file), contents_(contents) {
    contents_.strings.emplace_back();  // id 0
  }

  void read(const IndexEntry& entry) {
    const auto kind = static_cast<ChunkKind>(entry.kind);
    std::span<const std::byte> body;
    std::string problem = loader_.load(file_, entry, body);
    if (problem.empty()) problem = read_rows(kind, entry, body);
    if (problem.empty()) {
      if (is_copy(entry)) last_copy_[entry.kind] = entry.offset;
      return;
    }
    damaged_.push_back({entry, std::move(problem)});
  }

  // What was lost, once it is known what stands in the file twice.
  void finish() {
    const auto is_damaged_original = [](std::uint8_t kind) {
      return [kind](const auto& damaged) { return damaged.first.kind == kind && !is_copy(damaged.first); };
    };
    for (const auto& [entry, problem] : damaged_) {
      const bool stands_elsewhere =
          is_copy(entry) ? std::none_of(damaged_.begin(), damaged_.end(), is_damaged_original(entry.kind))
                         : has_copy(entry.kind, entry.offset);
      const std::string rows = std::to_string(entry.count) + " rows of " + kind_name(entry.kind);
      contents_.warnings.push_back("chunk at byte " + std::to_string(entry.offset) + " cannot be read (" +
                                   problem + "): " + rows +
                                   (stands_elsewhere ? ", which stand elsewhere in the file, too" : " lost"));
    }
    for (const Gap& gap : gaps_) {
      if (has_copy(gap.kind, gap.offset)) continue;
      contents_.warnings.push_back(kind_name(gap.kind) + " " + std::to_string(gap.from) + " to " +
                                   std::to_string(gap.to - 1) + " are lost");
    }
  }

 private:
  std::string read_rows(ChunkKind kind, const IndexEntry& entry, std::span<const std::byte> body) {
    constexpr const char* kMalformed = "its rows are malformed";
    switch (kind) {
      case ChunkKind::strings:
        return read_strings(entry, body);
      case ChunkKind::lanes: {
        std::vector<LaneRow> rows;
        if (!decode_lanes(body, entry.count, rows)) return kMalformed;
        for (LaneRow& row : rows) {
          if (row.id >= kMaxLanes) return "it has a lane number that is too large";
          if (row.id >= contents_.lanes.size()) {
            note_gap(entry, contents_.lanes.size(), row.id);
            contents_.lanes.resize(row.id + 1);
          }
          contents_.lanes[row.id] = std::move(row.lane);
        }
        return {};
      }
      case ChunkKind::groups: {
        std::vector<Group> rows;
        if (!decode_groups(body, entry.count, rows)) return kMalformed;
        const std::size_t end = entry.first_id + rows.size();
        if ((entry.first_id < contents_.groups.size() && !is_copy(entry)) || end > kMaxGroups) {
          return "its group numbers are out of order";
        }
        if (entry.first_id > contents_.groups.size())
          note_gap(entry, contents_.groups.size(), entry.first_id);
        contents_.groups.resize(std::max(contents_.groups.size(), end));
        std::move(rows.begin(), rows.end(),
                  contents_.groups.begin() + static_cast<std::ptrdiff_t>(entry.first_id));
        return {};
      }
      case ChunkKind::metadata:
        return decode_metadata(body, entry.count, contents_.metadata) ? "" : kMalformed;
      case ChunkKind::index:
        break;
    }
    return {};
  }

  std::string read_strings(const IndexEntry& entry, std::span<const std::byte> body) {
    auto& strings = contents_.strings;
    if (entry.first_id < strings.size() || entry.first_id - strings.size() > kLargestGap) {
      return "its string numbers are out of order";
    }
    auto& kept = contents_.string_bodies.emplace_back(body.begin(), body.end());
    std::vector<std::string_view> rows;
    if (!decode_strings(kept, entry.count, rows)) {
      contents_.string_bodies.pop_back();
      return "its rows are malformed";
    }
    note_gap(entry, strings.size(), entry.first_id);
    strings.resize(entry.first_id);
    strings.insert(strings.end(), rows.begin(), rows.end());
    return {};
  }

  // Rows of chunks that were lost are there, but empty.
  void note_gap(const IndexEntry& entry, std::size_t from, std::size_t to) {
    if (from != to) gaps_.push_back({entry.kind, entry.offset, from, to});
  }
  static bool is_copy(const IndexEntry& entry) { return (entry.flags & kCopy) != 0; }
  bool has_copy(std::uint8_t kind, std::uint64_t before) const {
    const auto last = last_copy_.find(kind);
    return last != last_copy_.end() && last->second >= before;
  }

  struct Gap {
    std::uint8_t kind = 0;
    std::uint64_t offset = 0;
    std::size_t from = 0, to = 0;
  };
  static constexpr std::size_t kLargestGap = 1U << 20;

  std::span<const std::byte> file_;
  Contents& contents_;
  BodyLoader loader_;
  std::vector<std::pair<IndexEntry, std::string>> damaged_;
  std::vector<Gap> gaps_;
  std::map<std::uint8_t, std::uint64_t> last_copy_;  // by kind of table, one that could be read: its position
};

// Every event's lane exists: lanes whose description was lost get an empty one.
void accept_events(const IndexEntry& entry, std::size_t& lanes_needed, Contents& contents) {
  const bool has_lane = (entry.flags & kHasLane) != 0;
  if (entry.count > kMaxEventsPerChunk || (has_lane && entry.first_id >= kMaxLanes)) {
    contents.warnings.push_back("chunk at byte " + std::to_string(entry.offset) +
                                " is beyond the limits of the format: " + std::to_string(entry.count) +
                                " rows of " + kind_name(entry.kind) + " lost");
    contents.has_gaps = true;
    return;
  }
  if (has_lane) lanes_needed = std::max<std::size_t>(lanes_needed, entry.first_id + 1);
  contents.events.push_back(entry);
}

}  // namespace

Result<Contents> read_contents(std::span<const std::byte> file, const std::string& name) {
  Contents contents;
  const Status header = check_file_header(file, name, contents);
  if (!header.ok()) return header.error();
  std::optional<std::vector<IndexEntry>> entries = read_index(file, contents.warnings);
  contents.complete = entries.has_value();
  if (!entries) entries = scan(file, contents.warnings, contents.has_gaps);

  TableReader tables(file, contents);
  std::size_t lanes_needed = 0;
  std::map<std::uint8_t, std::size_t> unknown;
  for (const IndexEntry& entry : *entries) {
    if (is_known_event_kind(entry.kind)) {
      accept_events(entry, lanes_needed, contents);
    } else if (entry.kind >= static_cast<std::uint8_t>(ChunkKind::strings) &&
               entry.kind < static_cast<std::uint8_t>(ChunkKind::index)) {
      tables.read(entry);
    } else {
      ++unknown[entry.kind];
    }
  }
  tables.finish();
  for (const auto& [kind, count] : unknown) {
    contents.warnings.push_back(std::to_string(count) + (count == 1 ? " chunk" : " chunks") + " of unknown " +
                                kind_name(kind) + " skipped: written by a newer version of Lockstep");
  }
  if (contents.lanes.size() < lanes_needed) {
    contents.warnings.push_back("the descriptions of " +
                                std::to_string(lanes_needed - contents.lanes.size()) + " lanes are lost");
    contents.lanes.resize(lanes_needed);
  }
  return contents;
}

}  // namespace lockstep::trace::format

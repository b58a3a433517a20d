// What a Reader holds (trace/reader.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "trace/format/body.h"
#include "trace/format/columns.h"
#include "trace/format/contents.h"
#include "trace/format/event_decoder.h"
#include "trace/format/input_file.h"
#include "trace/reader.h"

namespace lockstep::trace {

// What reading needs besides the file; expensive enough to be kept for the next call.
struct Workspace {
  format::BodyLoader loader;
  format::ColumnTable table;
  format::ArgumentDecoder arguments;
};

struct Reader::State {
  static constexpr std::size_t kKinds = static_cast<std::size_t>(EventKind::collective_issue) + 1;

  std::string name;
  std::unique_ptr<format::InputFile> file;  // absent over bytes in memory
  std::span<const std::byte> bytes;
  format::Contents contents;
  std::vector<ChunkInfo> chunks;                           // of contents.events, in file order
  std::array<std::vector<std::uint32_t>, kKinds> by_kind;  // into chunks, in file order
  std::array<std::vector<std::uint32_t>, kKinds> by_lane;  // the same, by lane first
  std::array<std::uint64_t, kKinds> counts{};

  std::mutex mutex;
  std::vector<std::unique_ptr<Workspace>> workspaces;  // not in use; guarded by mutex

  Status load(std::string file_name);
  std::unique_ptr<Workspace> take_workspace();
  void give_back(std::unique_ptr<Workspace> workspace);

  // The chunks of a kind that may hold selected events, in file order.
  std::vector<std::uint32_t> select(EventKind kind, const Selection& selection) const;
};

}  // namespace lockstep::trace

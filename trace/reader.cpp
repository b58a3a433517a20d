#include "trace/reader.h"

#include <algorithm>
#include <new>
#include <utility>

#include "trace/reader_state.h"

namespace lockstep::trace {

using format::IndexEntry;

Status Reader::State::load(std::string file_name) {
  name = std::move(file_name);
  Result<format::Contents> read = format::read_contents(bytes, name);
  if (!read.ok()) return read.error();
  contents = std::move(read).value();
  chunks.reserve(contents.events.size());
  for (const IndexEntry& entry : contents.events) {
    ChunkInfo info;
    info.kind = static_cast<EventKind>(entry.kind);
    if ((entry.flags & format::kHasLane) != 0) info.lane = entry.first_id;
    info.begin = entry.begin;
    info.end = entry.end;
    info.count = entry.count;
    info.offset = entry.offset;
    info.size = entry.size;
    by_kind[entry.kind].push_back(static_cast<std::uint32_t>(chunks.size()));
    counts[entry.kind] += entry.count;
    chunks.push_back(info);
  }
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    by_lane[kind] = by_kind[kind];
    std::stable_sort(by_lane[kind].begin(), by_lane[kind].end(),
                     [&](std::uint32_t a, std::uint32_t b) { return chunks[a].lane < chunks[b].lane; });
  }
  return {};
}

std::unique_ptr<Workspace> Reader::State::take_workspace() {
  {
    const std::lock_guard lock(mutex);
    if (!workspaces.empty()) {
      std::unique_ptr<Workspace> workspace = std::move(workspaces.back());
      workspaces.pop_back();
      return workspace;
    }
  }
  return std::make_unique<Workspace>();
}

void Reader::State::give_back(std::unique_ptr<Workspace> workspace) {
  const std::lock_guard lock(mutex);
  workspaces.push_back(std::move(workspace));
}

std::vector<std::uint32_t> Reader::State::select(EventKind kind, const Selection& selection) const {
  const auto index = static_cast<std::size_t>(kind);
  std::span<const std::uint32_t> candidates = by_kind[index];
  if (selection.lane) {
    const std::vector<std::uint32_t>& sorted = by_lane[index];
    const auto first =
        std::lower_bound(sorted.begin(), sorted.end(), *selection.lane,
                         [&](std::uint32_t chunk, LaneId lane) { return chunks[chunk].lane < lane; });
    const auto last =
        std::upper_bound(first, sorted.end(), *selection.lane,
                         [&](LaneId lane, std::uint32_t chunk) { return lane < chunks[chunk].lane; });
    candidates = std::span<const std::uint32_t>(first, last);
  }
  std::vector<std::uint32_t> selected;
  for (const std::uint32_t chunk : candidates) {
    // How long an open range runs is not known: any that begins before the end may be meant.
    const bool ends_before = kind != EventKind::open_range && chunks[chunk].end < selection.begin;
    if (chunks[chunk].begin <= selection.end && !ends_before) selected.push_back(chunk);
  }
  return selected;
}

bool Reader::recognises(std::span<const std::byte> beginning) noexcept {
  return format::begins_like_a_trace(beginning);
}

Reader::Reader(std::unique_ptr<State> state) : state_(std::move(state)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Result<Reader> Reader::open(const std::filesystem::path& path) {
  try {
    Result<std::unique_ptr<format::InputFile>> file = format::InputFile::open(path);
    if (!file.ok()) return file.error();
    auto state = std::make_unique<State>();
    state->file = std::move(file).value();
    state->bytes = state->file->bytes();
    const Status loaded = state->load(path.string());
    if (!loaded.ok()) return loaded.error();
    return Reader(std::move(state));
  } catch (const std::bad_alloc&) {
    return Error{"'" + path.string() + "': not enough memory to open it"};
  }
}

Result<Reader> Reader::open(std::span<const std::byte> bytes, std::string name) {
  try {
    auto state = std::make_unique<State>();
    state->bytes = bytes;
    const Status loaded = state->load(std::move(name));
    if (!loaded.ok()) return loaded.error();
    return Reader(std::move(state));
  } catch (const std::bad_alloc&) {
    return Error{"not enough memory to open a trace"};
  }
}

bool Reader::complete() const {
  return state_->contents.complete;
}
const std::vector<std::string>& Reader::warnings() const {
  return state_->contents.warnings;
}
bool Reader::has_gaps() const {
  return state_->contents.has_gaps;
}
const std::map<std::string, std::string>& Reader::metadata() const {
  return state_->contents.metadata;
}
std::string_view Reader::string(StringId id) const {
  const auto& strings = state_->contents.strings;
  return id < strings.size() ? strings[id] : std::string_view();
}
std::size_t Reader::string_count() const {
  return state_->contents.strings.size();
}
const std::vector<Lane>& Reader::lanes() const {
  return state_->contents.lanes;
}
const std::vector<Group>& Reader::groups() const {
  return state_->contents.groups;
}
std::span<const ChunkInfo> Reader::chunks() const {
  return state_->chunks;
}
std::uint64_t Reader::count(EventKind kind) const {
  const auto index = static_cast<std::size_t>(kind);
  return index < State::kKinds ? state_->counts[index] : 0;
}

}  // namespace lockstep::trace

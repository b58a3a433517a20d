#include "trace/reader.h"

#include <algorithm>
#include <array>
#include <new>
#include <set>
#include <tuple>
#include <utility>

#include "trace/format/body.h"
#include "trace/format/contents.h"
#include "trace/format/event_decoder.h"
#include "trace/format/input_file.h"

namespace lockstep::trace {
namespace {

using format::IndexEntry;

constexpr std::size_t kKinds = static_cast<std::size_t>(EventKind::drop) + 1;

// Collects what was lost; the first few problems are told in full.
class Problems {
 public:
  void add(std::string problem) {
    if (++count_ <= kTold) told_ += (told_.empty() ? "" : "; ") + problem;
  }
  Status status(const std::string& name) const {
    if (count_ == 0) return {};
    std::string message = "'" + name + "': " + told_;
    if (count_ > kTold) message += "; and " + std::to_string(count_ - kTold) + " more problems";
    return Error{std::move(message)};
  }

 private:
  static constexpr std::size_t kTold = 8;
  std::size_t count_ = 0;
  std::string told_;
};

template <class E>
bool intersects(const E& event, const Selection& selection) {
  if (format::begin_of(event) > selection.end) return false;
  return std::is_same_v<E, OpenRange> || format::end_of(event) >= selection.begin;
}

}  // namespace

struct Reader::State {
  std::string name;
  std::unique_ptr<format::InputFile> file;  // absent over bytes in memory
  std::span<const std::byte> bytes;
  format::Contents contents;
  std::vector<ChunkInfo> chunks;                           // of contents.events, in file order
  std::array<std::vector<std::uint32_t>, kKinds> by_kind;  // into chunks, in file order
  std::array<std::vector<std::uint32_t>, kKinds> by_lane;  // the same, by lane first
  std::array<std::uint64_t, kKinds> counts{};

  Status load(std::string file_name);

  // The chunks of E that may hold selected events, in file order.
  template <class E>
  std::vector<std::uint32_t> select(const Selection& selection) const;

  // Calls take(decoder, arguments, chunk) for each of those that is not damaged.
  template <class E, class Take>
  Status decode(const Selection& selection, bool with_arguments, Take take) const;

  // Ids that nothing in the file explains (their table was lost) must not lead consumers astray.
  template <class E>
  void repair_ids(std::span<E> events, std::uint64_t& repaired) const;
};

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

template <class E>
std::vector<std::uint32_t> Reader::State::select(const Selection& selection) const {
  const auto kind = static_cast<std::size_t>(format::Schema<E>::kKind);
  std::span<const std::uint32_t> candidates = by_kind[kind];
  if (selection.lane) {
    const auto lane_of = [&](std::uint32_t chunk) { return chunks[chunk].lane; };
    const auto found = std::ranges::equal_range(by_lane[kind], selection.lane, {}, lane_of);
    candidates = std::span<const std::uint32_t>(found.begin(), found.end());
  }
  std::vector<std::uint32_t> selected;
  for (const std::uint32_t chunk : candidates) {
    if (chunks[chunk].begin > selection.end) continue;
    if (!std::is_same_v<E, OpenRange> && chunks[chunk].end < selection.begin) continue;
    selected.push_back(chunk);
  }
  return selected;
}

template <class E, class Take>
Status Reader::State::decode(const Selection& selection, bool with_arguments, Take take) const {
  Problems problems;
  format::BodyLoader loader;
  format::ColumnTable table;
  format::ArgumentDecoder arguments;
  for (const std::uint32_t index : select<E>(selection)) {
    const ChunkInfo& chunk = chunks[index];
    std::span<const std::byte> body;
    std::string problem;
    if (file != nullptr && !file->holds(chunk.offset + chunk.size)) {
      problem = "the file has become shorter since it was opened";
    }
    if (problem.empty()) problem = loader.load(bytes, contents.events[index], body);
    if (problem.empty()) problem = table.parse(body, static_cast<std::uint32_t>(chunk.count));
    if (problem.empty()) problem = format::check_columns<E>(table);
    if (problem.empty() && format::Schema<E>::kHasLane && !chunk.lane) problem = "it lacks its lane";
    if (problem.empty() && with_arguments)
      problem = arguments.decode(table, static_cast<std::uint32_t>(chunk.count));
    if (!problem.empty()) {
      problem = "chunk at byte " + std::to_string(chunk.offset) + " is damaged (" + problem +
                "): " + std::to_string(chunk.count) + " " + to_string(chunk.kind) + " events";
      if (chunk.lane) problem += " of lane " + std::to_string(*chunk.lane);
      problems.add(problem + " lost");
      continue;
    }
    format::EventDecoder<E> decoder(table);
    std::uint64_t repaired = 0;
    take(
        chunk,
        [&](std::span<E> events) {
          if constexpr (format::Schema<E>::kHasLane) {
            for (E& event : events) event.lane = *chunk.lane;
          }
          decoder.next(events.size(), events.data());
          repair_ids(events, repaired);
        },
        arguments);
    if (repaired > 0) {
      problems.add("chunk at byte " + std::to_string(chunk.offset) + ": " + std::to_string(repaired) + " " +
                   to_string(chunk.kind) + " events refer to a lane or group whose description is lost");
    }
  }
  return problems.status(name);
}

template <class E>
void Reader::State::repair_ids(std::span<E> events, std::uint64_t& repaired) const {
  if constexpr (std::is_same_v<E, HostRange>) {
    for (E& event : events) {
      if (event.end_lane < contents.lanes.size()) continue;
      event.end_lane = event.lane;
      ++repaired;
    }
  } else if constexpr (std::is_same_v<E, Collective>) {
    for (E& event : events) {
      if (event.group < contents.groups.size() || event.group == kNoGroup) continue;
      event.group = kNoGroup;
      ++repaired;
    }
  }
}

bool Reader::recognises(std::span<const std::byte> beginning) noexcept {
  return format::has_file_magic(beginning);
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
  return index < kKinds ? state_->counts[index] : 0;
}

template <class E>
Status Reader::read(const Selection& selection, std::vector<E>& events) const {
  try {
    return state_->decode<E>(selection, false, [&](const ChunkInfo& chunk, const auto& decode, const auto&) {
      const std::size_t first = events.size();
      events.resize(first + chunk.count);
      decode(std::span(events).subspan(first));
      if (chunk.begin >= selection.begin && chunk.end <= selection.end) return;
      const auto rejected = [&](const E& event) { return !intersects(event, selection); };
      events.erase(
          std::remove_if(events.begin() + static_cast<std::ptrdiff_t>(first), events.end(), rejected),
          events.end());
    });
  } catch (const std::bad_alloc&) {
    return Error{"'" + state_->name + "': not enough memory to read its " +
                 to_string(format::Schema<E>::kKind) + " events"};
  }
}

template <class E>
Status Reader::read_with_arguments(
    const Selection& selection, const std::function<void(const E&, std::span<const Argument>)>& visit) const {
  try {
    std::vector<E> tile;
    return state_->decode<E>(selection, format::Schema<E>::kHasArguments,
                             [&](const ChunkInfo& chunk, const auto& decode, auto& arguments) {
                               for (std::uint64_t done = 0; done < chunk.count; done += tile.size()) {
                                 tile.assign(std::min<std::uint64_t>(format::kTileRows, chunk.count - done),
                                             E{});
                                 decode(std::span(tile));
                                 for (const E& event : tile) {
                                   const std::span<const Argument> its_arguments = arguments.next();
                                   if (intersects(event, selection)) visit(event, its_arguments);
                                 }
                               }
                             });
  } catch (const std::bad_alloc&) {
    return Error{"'" + state_->name + "': not enough memory to read its " +
                 to_string(format::Schema<E>::kKind) + " events"};
  }
}

template <class E>
Status Reader::read(const Selection& selection, const std::function<void(const E&)>& visit) const {
  try {
    std::vector<E> tile;
    return state_->decode<E>(selection, false, [&](const ChunkInfo& chunk, const auto& decode, const auto&) {
      for (std::uint64_t done = 0; done < chunk.count; done += tile.size()) {
        tile.assign(std::min<std::uint64_t>(format::kTileRows, chunk.count - done), E{});
        decode(std::span(tile));
        for (const E& event : tile) {
          if (intersects(event, selection)) visit(event);
        }
      }
    });
  } catch (const std::bad_alloc&) {
    return Error{"'" + state_->name + "': not enough memory to read its " +
                 to_string(format::Schema<E>::kKind) + " events"};
  }
}

Result<std::vector<OpenRange>> Reader::unfinished_ranges() const {
  using Identity = std::tuple<LaneId, Nanoseconds, StringId, std::uint16_t, bool>;
  const auto identity = [](const auto& range) {
    return Identity{range.lane, range.begin, range.name, range.depth, range.nested};
  };
  std::vector<OpenRange> open;
  Status status = read<OpenRange>({}, open);
  if (!status.ok()) return status.error();
  // A range that is still open is written again at each flush.
  std::set<Identity> seen;
  std::erase_if(open, [&](const OpenRange& range) { return !seen.insert(identity(range)).second; });
  std::map<LaneId, std::pair<Nanoseconds, Nanoseconds>> times;
  for (const OpenRange& range : open) {
    auto& [first, last] = times.try_emplace(range.lane, range.begin, range.begin).first->second;
    first = std::min(first, range.begin);
    last = std::max(last, range.begin);
  }
  std::set<Identity> ended;
  for (const auto& [lane, bounds] : times) {
    status = read<HostRange>({lane, bounds.first, bounds.second}, [&](const HostRange& range) {
      if (seen.contains(identity(range))) ended.insert(identity(range));
    });
    if (!status.ok()) return status.error();
  }
  std::erase_if(open, [&](const OpenRange& range) { return ended.contains(identity(range)); });
  return open;
}

Status Reader::verify() const {
  std::string problems;
  const auto verify_kind = [&]<class E>(const E*) {
    const Status status = read_with_arguments<E>(
        {}, std::function<void(const E&, std::span<const Argument>)>([](const E&, auto) {}));
    if (!status.ok()) problems += (problems.empty() ? "" : "; ") + status.error().message;
  };
  std::apply([&](const auto&... events) { (verify_kind(&events), ...); }, format::EventTypes{});
  if (problems.empty()) return {};
  return Error{std::move(problems)};
}

#define LOCKSTEP_INSTANTIATE(E)                                                               \
  template Status Reader::read(const Selection&, const std::function<void(const E&)>&) const; \
  template Status Reader::read(const Selection&, std::vector<E>&) const;                      \
  template Status Reader::read_with_arguments(                                                \
      const Selection&, const std::function<void(const E&, std::span<const Argument>)>&) const;
LOCKSTEP_INSTANTIATE(HostRange)
LOCKSTEP_INSTANTIATE(OpenRange)
LOCKSTEP_INSTANTIATE(Mark)
LOCKSTEP_INSTANTIATE(Counter)
LOCKSTEP_INSTANTIATE(DeviceActivity)
LOCKSTEP_INSTANTIATE(ApiCall)
LOCKSTEP_INSTANTIATE(Collective)
LOCKSTEP_INSTANTIATE(Step)
LOCKSTEP_INSTANTIATE(ClockSnapshot)
LOCKSTEP_INSTANTIATE(Drop)
#undef LOCKSTEP_INSTANTIATE

}  // namespace lockstep::trace

// Decoding what a Selection asks for.
#include <algorithm>
#include <iterator>
#include <map>
#include <new>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "trace/reader_state.h"

namespace lockstep::trace {
namespace {

using format::Schema;

// Collects what was lost; the first few problems are told in full.
class Problems {
 public:
  void add(const std::string& problem) {
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

// Ids that nothing in the file explains (their table was lost) must not lead consumers astray. Returns how
// many there were.
template <class E>
std::uint64_t repair_ids(std::span<E> events, const format::Contents& contents) {
  std::uint64_t repaired = 0;
  if constexpr (std::is_same_v<E, HostRange>) {
    for (E& event : events) {
      if (event.end_lane < contents.lanes.size()) continue;
      event.end_lane = event.lane;
      ++repaired;
    }
  } else if constexpr (requires(E event) { event.group; }) {
    for (E& event : events) {
      if (event.group < contents.groups.size() || event.group == kNoGroup) continue;
      event.group = kNoGroup;
      ++repaired;
    }
  }
  return repaired;
}

// Fetches a chunk's columns into the workspace. An empty string, or what is wrong with the chunk.
template <class State>
std::string load_columns(const State& state, std::uint32_t index, Workspace& workspace) {
  const ChunkInfo& chunk = state.chunks[index];
  if (state.file != nullptr && !state.file->holds(chunk.offset + chunk.size)) {
    return "the file has become shorter since it was opened";
  }
  std::span<const std::byte> body;
  std::string problem = workspace.loader.load(state.bytes, state.contents.events[index], body);
  if (problem.empty()) problem = workspace.table.parse(body, static_cast<std::uint32_t>(chunk.count));
  return problem;
}

std::string loss(const ChunkInfo& chunk, const std::string& problem) {
  std::string text = "chunk at byte " + std::to_string(chunk.offset) + " is damaged (" + problem +
                     "): " + std::to_string(chunk.count) + " " + to_string(chunk.kind) + " events";
  if (chunk.lane) text += " of lane " + std::to_string(*chunk.lane);
  return text + " lost";
}

// The events of one chunk, decoded some at a time.
template <class E>
class ChunkEvents {
 public:
  ChunkEvents(const ChunkInfo& chunk, const format::Contents& contents, Workspace& workspace)
      : chunk_(chunk), contents_(contents), arguments_(workspace.arguments), decoder_(workspace.table) {}

  const ChunkInfo& chunk() const { return chunk_; }
  // The next events, into elements that hold defaults.
  void next(std::span<E> events) {
    if constexpr (Schema<E>::kHasLane) {
      for (E& event : events) event.lane = *chunk_.lane;
    }
    decoder_.next(events.size(), events.data());
    repaired_ += repair_ids(events, contents_);
  }
  std::span<const Argument> next_arguments() { return arguments_.next(); }
  std::uint64_t repaired() const { return repaired_; }

 private:
  const ChunkInfo& chunk_;
  const format::Contents& contents_;
  format::ArgumentDecoder& arguments_;
  format::EventDecoder<E> decoder_;
  std::uint64_t repaired_ = 0;
};

// Calls take(ChunkEvents<E>&) for each selected chunk that is not damaged.
template <class E, class State, class Take>
Status for_each_chunk(State& state, const Selection& selection, bool with_arguments, Take take) {
  Problems problems;
  std::unique_ptr<Workspace> workspace = state.take_workspace();
  for (const std::uint32_t index : state.select(Schema<E>::kKind, selection)) {
    const ChunkInfo& chunk = state.chunks[index];
    std::string problem = load_columns(state, index, *workspace);
    if (problem.empty()) problem = format::check_columns<E>(workspace->table);
    if (problem.empty() && Schema<E>::kHasLane && !chunk.lane) problem = "it lacks its lane";
    if (problem.empty() && with_arguments) {
      problem = workspace->arguments.decode(workspace->table, static_cast<std::uint32_t>(chunk.count));
    }
    if (!problem.empty()) {
      problems.add(loss(chunk, problem));
      continue;
    }
    ChunkEvents<E> events(chunk, state.contents, *workspace);
    take(events);
    if (events.repaired() > 0) {
      problems.add("chunk at byte " + std::to_string(chunk.offset) + ": " +
                   std::to_string(events.repaired()) + " " + to_string(chunk.kind) +
                   " events refer to a lane or group that the file does not describe");
    }
  }
  state.give_back(std::move(workspace));
  return problems.status(state.name);
}

// The same for each selected event, with its arguments if they are wanted.
template <class E, class State, class Visit>
Status for_each_event(State& state, const Selection& selection, bool with_arguments, Visit visit) {
  std::vector<E> tile;
  return for_each_chunk<E>(state, selection, with_arguments, [&](ChunkEvents<E>& events) {
    for (std::uint64_t left = events.chunk().count; left > 0; left -= tile.size()) {
      tile.assign(std::min<std::uint64_t>(format::kTileRows, left), E{});
      events.next(tile);
      for (const E& event : tile) {
        const std::span<const Argument> arguments =
            with_arguments ? events.next_arguments() : std::span<const Argument>();
        if (intersects(event, selection)) visit(event, arguments);
      }
    }
  });
}

// Room for what the selection may hold. Counts of a hostile file are believed only as far as its size makes
// them likely; beyond, the vector grows as events turn up.
template <class E, class State>
void reserve(const State& state, const Selection& selection, std::vector<E>& events) {
  std::uint64_t count = 0;
  for (const std::uint32_t chunk : state.select(Schema<E>::kKind, selection))
    count += state.chunks[chunk].count;
  const std::size_t needed = events.size() + std::min<std::uint64_t>(count, 4 * state.bytes.size());
  // A caller that collects lane after lane must not pay for a copy each time.
  if (needed > events.capacity()) events.reserve(std::max(needed, events.capacity() + events.capacity() / 2));
}

template <class E, class State>
Status out_of_memory(const State& state) {
  return Error{"'" + state.name + "': not enough memory to read its " + to_string(Schema<E>::kKind) +
               " events"};
}

}  // namespace

template <class E>
Status Reader::read(const Selection& selection, std::vector<E>& events) const {
  try {
    reserve(*state_, selection, events);
    const bool everything = selection.begin == Selection{}.begin && selection.end == Selection{}.end;
    return for_each_chunk<E>(*state_, selection, false, [&](ChunkEvents<E>& chunk_events) {
      const ChunkInfo& chunk = chunk_events.chunk();
      const std::size_t first = events.size();
      events.resize(first + chunk.count);
      chunk_events.next(std::span(events).subspan(first));
      // A chunk that lies inside the selection may still hold an event that does not: one that ends before it
      // begins.
      if (everything) return;
      const auto rejected = [&](const E& event) { return !intersects(event, selection); };
      events.erase(
          std::remove_if(events.begin() + static_cast<std::ptrdiff_t>(first), events.end(), rejected),
          events.end());
    });
  } catch (const std::bad_alloc&) {
    return out_of_memory<E>(*state_);
  }
}

template <class E>
Status Reader::read_with_arguments(
    const Selection& selection, const std::function<void(const E&, std::span<const Argument>)>& visit) const {
  try {
    return for_each_event<E>(*state_, selection, Schema<E>::kHasArguments, visit);
  } catch (const std::bad_alloc&) {
    return out_of_memory<E>(*state_);
  }
}

template <class E>
Status Reader::read(const Selection& selection, const std::function<void(const E&)>& visit) const {
  try {
    return for_each_event<E>(*state_, selection, false, [&](const E& event, auto) { visit(event); });
  } catch (const std::bad_alloc&) {
    return out_of_memory<E>(*state_);
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

std::vector<ChunkInfo> Reader::damaged_chunks() const {
  std::set<std::uint64_t> sound;  // by offset
  const auto look_at = [&]<class E>(const E*) {
    constexpr bool kArguments =
        std::is_same_v<E, HostRange> || std::is_same_v<E, OpenRange> || std::is_same_v<E, Mark>;
    // What is wrong with the others is the answer, and in no need of words.
    (void)for_each_chunk<E>(*state_, {}, kArguments,
                            [&](const ChunkEvents<E>& events) { sound.insert(events.chunk().offset); });
  };
  std::apply([&](const auto&... events) { (look_at(&events), ...); }, format::EventTypes{});
  std::vector<ChunkInfo> damaged;
  std::copy_if(state_->chunks.begin(), state_->chunks.end(), std::back_inserter(damaged),
               [&](const ChunkInfo& chunk) { return !sound.contains(chunk.offset); });
  return damaged;
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
LOCKSTEP_INSTANTIATE(CollectiveIssue)
#undef LOCKSTEP_INSTANTIATE

}  // namespace lockstep::trace

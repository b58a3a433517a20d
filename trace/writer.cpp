#include "trace/writer.h"

#include <unistd.h>

#include <new>
#include <string>
#include <utility>

#include "trace/writer_state.h"

namespace lockstep::trace {
namespace {

// Texts longer than a chunk could hold are cut, and say so.
std::string cut_to_limit(std::string_view text) {
  if (text.size() <= format::kMaxStringSize) return std::string(text);
  const std::string note = " [cut: " + std::to_string(text.size()) + " bytes]";
  return std::string(text.substr(0, format::kMaxStringSize - note.size())) + note;
}

// Runs `action` on a state that still accepts; memory that runs out ends the writing.
template <class State, class Action>
void guarded(State& state, Action action) noexcept {
  if (state == nullptr || !state->accepts()) return;
  try {
    action(*state);
  } catch (const std::bad_alloc&) {
    state->fail_out_of_memory();
  }
}

template <class State, class E>
void append_to(State& state, const E& event, std::span<const Argument> arguments) noexcept {
  if (state == nullptr) return;
  try {
    state->append(event, arguments);
  } catch (const std::bad_alloc&) {
    ++state->lost;
    state->fail_out_of_memory();
  }
}

}  // namespace

Writer::Writer(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&& other) noexcept {
  if (this != &other) {
    static_cast<void>(close());
    state_ = std::move(other.state_);
  }
  return *this;
}
Writer::~Writer() {
  static_cast<void>(close());
}

Result<Writer> Writer::create(const char* path, const WriterOptions& options) noexcept {
  try {
    auto state = std::make_unique<State>(options);
    const Status created = state->file.create(path, options.exclusive);
    if (!created.ok()) return created.error();
    const format::FileHeaderBytes header = format::encode_file_header();
    state->file.buffer().assign(header.begin(), header.end());
    state->write_out();
    if (!state->status.ok()) {
      // A file without even its header is none: on a full disk it would only be one more to find empty.
      if (options.exclusive) ::unlink(path);
      return state->status.error();
    }
    return Writer(std::move(state));
  } catch (const std::bad_alloc&) {
    return Error{"out of memory"};
  }
}

void Writer::set_metadata(std::string_view key, std::string_view value) noexcept {
  guarded(state_, [&](State& state) { state.metadata[cut_to_limit(key)] = cut_to_limit(value); });
}

void Writer::reserve_metadata(std::string_view key, std::size_t room) noexcept {
  guarded(state_, [&](State& state) { state.reserve_metadata(key, room); });
}

Status Writer::replace_reserved(std::string_view value) noexcept {
  if (state_ == nullptr) return {};
  try {
    return state_->replace_reserved(value);
  } catch (const std::bad_alloc&) {
    return Error{"out of memory"};
  }
}

StringId Writer::intern(std::string_view text) noexcept {
  StringId id = 0;
  guarded(state_, [&](State& state) {
    if (state.strings.size() >= format::kMaxStrings) return;
    id = text.size() <= format::kMaxStringSize ? state.strings.intern(text)
                                               : state.strings.intern(cut_to_limit(text));
    state.write_large_tables();
  });
  return id;
}

LaneId Writer::add_lane(const Lane& lane) noexcept {
  LaneId id = format::kMaxLanes;
  guarded(state_, [&](State& state) {
    if (state.lanes.size() >= format::kMaxLanes) return;
    state.lanes.push_back(lane);
    const auto added = static_cast<LaneId>(state.lanes.size() - 1);
    state.lanes[added].name = cut_to_limit(lane.name);
    state.add_lane_row(added);
    id = added;
    state.write_large_tables();
  });
  return id;
}

void Writer::rename_lane(LaneId lane, std::string_view name) noexcept {
  guarded(state_, [&](State& state) {
    if (lane >= state.lanes.size()) return;
    state.lanes[lane].name = cut_to_limit(name);
    state.add_lane_row(lane);
    state.write_large_tables();
  });
}

GroupId Writer::add_group(const Group& group) noexcept {
  GroupId id = kNoGroup;
  guarded(state_, [&](State& state) {
    if (state.groups >= format::kMaxGroups || group.ranks.size() > format::kMaxRanksPerGroup) return;
    Group kept{cut_to_limit(group.name), cut_to_limit(group.description), group.ranks, group.own_rank,
               group.size};
    state.add_group_row(kept);
    id = state.groups - 1;
    state.write_large_tables();
  });
  return id;
}

void Writer::append(const HostRange& event, std::span<const Argument> arguments) noexcept {
  append_to(state_, event, arguments);
}
void Writer::append(const OpenRange& event, std::span<const Argument> arguments) noexcept {
  append_to(state_, event, arguments);
}
void Writer::append(const Mark& event, std::span<const Argument> arguments) noexcept {
  append_to(state_, event, arguments);
}
void Writer::append(const Counter& event) noexcept {
  append_to(state_, event, {});
}
void Writer::append(const DeviceActivity& event) noexcept {
  append_to(state_, event, {});
}
void Writer::append(const ApiCall& event) noexcept {
  append_to(state_, event, {});
}
void Writer::append(const Collective& event) noexcept {
  append_to(state_, event, {});
}
void Writer::append(const Step& event) noexcept {
  append_to(state_, event, {});
}
void Writer::append(const ClockSnapshot& event) noexcept {
  append_to(state_, event, {});
}
void Writer::append(const Drop& event) noexcept {
  append_to(state_, event, {});
}
void Writer::append(const CollectiveIssue& event) noexcept {
  append_to(state_, event, {});
}

void Writer::repeat_tables() noexcept {
  guarded(state_, [](State& state) {
    state.seal_all();
    state.repeat_tables();
  });
}

Status Writer::flush() noexcept {
  seal();
  return write();
}

void Writer::seal() noexcept {
  guarded(state_, [](State& state) {
    state.notice_cut();
    state.seal_all();
  });
}

Status Writer::write() noexcept {
  if (state_ == nullptr) return {};
  guarded(state_, [](State& state) { state.write_out(); });
  return state_->report();
}

Status Writer::resume_write() noexcept {
  if (state_ == nullptr) return {};
  guarded(state_, [](State& state) { state.resume_write_out(); });
  return state_->report();
}

int Writer::descriptor() const noexcept {
  return state_ != nullptr ? state_->file.descriptor() : -1;
}

bool Writer::hold_file() noexcept {
  return state_ != nullptr && state_->file.hold();
}

Status Writer::close() noexcept {
  if (state_ == nullptr) return {};
  guarded(state_, [](State& state) { state.finish(); });
  if (state_->file.is_open()) {
    try {
      const Status closed = state_->file.close();
      if (!closed.ok() && state_->status.ok()) state_->status = closed;
    } catch (const std::bad_alloc&) {
      state_->fail_out_of_memory();
    }
  }
  return state_->report();
}

void Writer::abandon() noexcept {
  if (state_ == nullptr) return;
  state_->file.abandon();
  state_->drop_buffered();
}

std::uint64_t Writer::events_appended() const noexcept {
  return state_ != nullptr ? state_->appended : 0;
}
std::uint64_t Writer::events_lost() const noexcept {
  return state_ != nullptr ? state_->lost : 0;
}
std::uint64_t Writer::bytes_written() const noexcept {
  return state_ != nullptr ? state_->file.written() : 0;
}
std::uint64_t Writer::events_appended(EventKind kind) const noexcept {
  const auto index = static_cast<std::size_t>(kind);
  return state_ != nullptr && index < state_->appended_by_kind.size() ? state_->appended_by_kind[index] : 0;
}

Status Writer::release_held() noexcept {
  if (state_ == nullptr) return {};
  guarded(state_, [](State& state) {
    state.notice_cut();
    state.seal_all();
    state.release_held();
    state.write_out();
  });
  return state_->report();
}
std::size_t Writer::bytes_held() const noexcept {
  return state_ != nullptr ? state_->held.bytes() : 0;
}
Nanoseconds Writer::held_since() const noexcept {
  return state_ != nullptr ? state_->held.since() : kUnknownTime;
}

}  // namespace lockstep::trace

#include "tracer/inject/sources/nccl/nccl_source.h"

#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "tracer/inject/writer/prepare.h"

namespace lockstep::tracer::nccl {

namespace {

template <class Record>
bool read(const std::byte* body, std::uint32_t bytes, Record& record) {
  if (bytes < sizeof record) return false;
  std::memcpy(&record, body, sizeof record);
  return true;
}

// What follows the record's struct.
template <class Record>
std::string_view rest(const std::byte* body, std::uint32_t bytes) {
  return {reinterpret_cast<const char*>(body) + sizeof(Record), bytes - sizeof(Record)};
}

// Never destroyed: the writer thread may use it while the process ends.
NcclSource& the_source() {
  alignas(NcclSource) static std::byte memory[sizeof(NcclSource)];
  static NcclSource* const source = new (memory) NcclSource;
  return *source;
}

}  // namespace

bool register_source(std::atomic<SourceId>& id) noexcept {
  if (!prepare() || !is_wanted("nccl")) return false;
  id.store(Tracer::instance().add_source(the_source()), std::memory_order_relaxed);
  return id.load(std::memory_order_relaxed) != Tracer::kNoSource;
}

bool register_source() noexcept {
  std::atomic<SourceId> unused{Tracer::kNoSource};
  return register_source(unused);
}

void NcclSource::begin(SourceContext& context) {
  state_.emplace(context);
}

void NcclSource::consume(std::uint32_t thread, std::uint8_t type, const std::byte* body, std::uint32_t bytes,
                         trace::Nanoseconds time) {
  State& state = *state_;
  switch (static_cast<RecordType>(type)) {
    case RecordType::communicator: {
      CommunicatorRecord record;
      if (!read(body, bytes, record)) return;
      describe();
      return state.communicators.begin(record, rest<CommunicatorRecord>(body, bytes), state.drain);
    }
    case RecordType::communicator_end: {
      CommunicatorEndRecord record;
      if (!read(body, bytes, record)) return;
      return state.communicators.end(static_cast<std::uint32_t>(record.context), state.drain);
    }
    case RecordType::operation: {
      OperationRecord record;
      if (!read(body, bytes, record)) return;
      return state.batches.operation(thread, record, rest<OperationRecord>(body, bytes), time);
    }
    case RecordType::batch_end: {
      BatchEndRecord record;
      if (read(body, bytes, record)) state.batches.batch_end(record, time);
      return;
    }
    case RecordType::launch: {
      LaunchRecord record;
      if (read(body, bytes, record)) state.batches.launch(thread, record, time);
      return;
    }
    case RecordType::launch_end: {
      LaunchEndRecord record;
      if (read(body, bytes, record)) state.batches.launch_end(record, time);
      return;
    }
    case RecordType::network_begin: {
      NetworkBeginRecord record;
      if (read(body, bytes, record)) state.network.begin(thread, record, time);
      return;
    }
    case RecordType::network_state: {
      NetworkStateRecord record;
      if (read(body, bytes, record)) state.network.state(record, time);
      return;
    }
    case RecordType::network_end: {
      NetworkEndRecord record;
      if (read(body, bytes, record)) state.network.end(thread, record, time);
      return;
    }
  }
}

void NcclSource::range(std::uint32_t thread, const trace::HostRange& range,
                       std::span<const trace::Argument> arguments) {
  state_->ranges.range(thread, range, arguments);
  describe();
}

void NcclSource::end_drain(trace::Nanoseconds now) {
  State& state = *state_;
  state.batches.end_drain(state.drain);
  state.ranges.end_drain(state.drain);
  if (state.drain > 1) state.communicators.forget_ended(state.drain - 1);
  ++state.drain;
  note_losses(now);
  state.last_drain = now;
}

void NcclSource::finish(trace::Nanoseconds now) {
  State& state = *state_;
  state.batches.finish();
  state.ranges.finish();
  state.network.finish(now);
  note_losses(now);
  if (state.described) {
    state.described = false;
    describe();
  }
}

void NcclSource::note_losses(trace::Nanoseconds now) {
  State& state = *state_;
  const trace::Nanoseconds before = state.last_drain != 0 ? state.last_drain : now;
  const auto note = [&](std::string_view reason, std::uint64_t count) {
    note_drops(state.context.writer, name(), reason, count, before, now);
  };
  note("more operations at once than are kept", state.batches.take_lost() + state.ranges.take_lost());
  note("more proxy operations at once than are kept", state.network.take_lost());
  const std::uint64_t refused = state.communicators.refused();
  note("more communicators than are kept", refused - std::exchange(state.refused, refused));
}

// At first when there is something to describe, so that it is in the file of a process that is killed.
void NcclSource::describe() {
  State& state = *state_;
  if (std::exchange(state.described, true)) return;
  std::string problem;
  if (!state.communicators.has_plugin() && state.ranges.written() > 0) {
    problem =
        "this libnccl loaded no profiler plugin (it is older than 2.23, or NCCL_PROFILER_PLUGIN names "
        "another one): its NVTX ranges tell of operations, but not of data types, algorithms and protocols";
  }
  if (const std::uint64_t unknown = state.batches.of_unknown_communicators(); unknown > 0) {
    problem += (problem.empty() ? "" : "; ") + std::to_string(unknown) +
               " operations are of communicators that nobody told of";
  }
  describe_source(state.context.writer, name(), "recording", problem);
}

}  // namespace lockstep::tracer::nccl

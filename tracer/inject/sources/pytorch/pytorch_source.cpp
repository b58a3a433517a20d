#include "tracer/inject/sources/pytorch/pytorch_source.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "trace/events/wait_range.h"
#include "tracer/inject/core/thread_name.h"
#include "tracer/inject/core/training_threads.h"
#include "tracer/inject/sources/pytorch/active.h"

namespace lockstep::tracer::pytorch {

namespace {

constexpr const char* kName = "pytorch";
constexpr std::size_t kMaxUndecided = 1U << 20U;
// So long after its last optimizer a step is over, though no other optimizer has stepped.
constexpr trace::Nanoseconds kSilence = 1'000'000'000;

// Problems are few, told once each, and read while they may be added to: a list that only grows.
constexpr std::size_t kMaxProblems = 16;
std::array<std::atomic<const std::string*>, kMaxProblems> problems{};

const char* name_of(Phase phase) {
  switch (phase) {
    case Phase::data:
      return "data_loading";
    case Phase::forward:
      return "forward";
    case Phase::backward:
      return "backward";
    case Phase::optimizer:
      return "optimizer";
  }
  return "";
}

const char* name_of(trace::Pass pass) {
  return pass == trace::Pass::forward ? "forward" : pass == trace::Pass::backward ? "backward" : "optimizer";
}

}  // namespace

PytorchSource& PytorchSource::instance() noexcept {
  // Never destroyed: the writer thread may still use it while the process ends.
  static PytorchSource* const source = new PytorchSource;
  return *source;
}

void PytorchSource::add_problem(std::string_view problem) {
  if (problem.empty()) return;
  for (std::atomic<const std::string*>& entry : problems) {
    const std::string* known = entry.load(std::memory_order_acquire);
    if (known != nullptr && *known == problem) return;
    if (known != nullptr) continue;
    const auto* fresh = new std::string(problem);
    if (entry.compare_exchange_strong(known, fresh)) return;
    delete fresh;
  }
}

void PytorchSource::tell_problems() {
  if (operations_->has_lost_ends())
    add_problem("when some collectives ended, which nobody waited for by their works: they have no interval");
  std::string text;
  for (const std::atomic<const std::string*>& entry : problems) {
    const std::string* const problem = entry.load(std::memory_order_acquire);
    if (problem != nullptr) text += (text.empty() ? "" : "; ") + *problem;
  }
  if (text == told_) return;
  told_ = text;
  describe_source(context_->writer, kName, "recording", text);
}

void PytorchSource::begin(SourceContext& context) {
  context_ = &context;
  operations_ =
      std::make_unique<Operations>(context.writer, static_cast<std::uint64_t>(context.process.process));
  threads_.clear();
  waiting_.clear();
  bodies_.clear();
  computed_.clear();
  computed_lanes_.clear();
  drain_before_ = 0;
  told_.reset();
  step_thread_ = 0;
  device_ = Device::unknown;
}

void PytorchSource::after_fork_in_child() noexcept {
  active_source.store(Tracer::kNoSource, std::memory_order_relaxed);
  forget_begins_after_fork();
}

void PytorchSource::consume(std::uint32_t thread, std::uint8_t type, const std::byte* body,
                            std::uint32_t bytes, trace::Nanoseconds time) {
  waiting_.push_back({time, thread, static_cast<RecordType>(type), bytes, bodies_.size()});
  bodies_.insert(bodies_.end(), body, body + bytes);
}

void PytorchSource::end_drain(trace::Nanoseconds now) {
  // A thread may have recorded while the heads of other rings were read already: only what is older than the
  // drain before is whole.
  const trace::Nanoseconds horizon = std::exchange(drain_before_, now);
  process_before(horizon);
  for (auto& [id, thread] : threads_) thread.loop.close_step_counted_before(horizon - kSilence);
  write_loops();
  operations_->note_open(horizon);
  note_open_before(horizon);
  note_drops(context_->writer, kName, "work of a collective whose call was not seen",
             operations_->take_unknown_works(), horizon, now);
}

void PytorchSource::finish(trace::Nanoseconds now) {
  process_before(std::numeric_limits<trace::Nanoseconds>::max());
  for (auto& [id, thread] : threads_) {
    thread.loop.finish();
    thread.evaluation.finish();
    end_backward_of_module(thread);
  }
  if (device_ == Device::unknown) device_ = Device::gpu;  // nothing says that the CPU is the device
  write_loops();
  operations_->note_open(std::numeric_limits<trace::Nanoseconds>::max());
  note_open_before(std::numeric_limits<trace::Nanoseconds>::max());
  operations_->finish();
  note_drops(context_->writer, kName, "work of a collective whose call was not seen",
             operations_->take_unknown_works(), drain_before_, now);
  tell_problems();
}

void PytorchSource::process_before(trace::Nanoseconds horizon) {
  std::stable_sort(waiting_.begin(), waiting_.end(),
                   [](const Event& one, const Event& other) { return one.time < other.time; });
  const auto end = std::partition_point(waiting_.begin(), waiting_.end(),
                                        [horizon](const Event& event) { return event.time < horizon; });
  if (end == waiting_.begin()) return;
  for (auto event = waiting_.begin(); event != end; ++event) process(*event);
  std::vector<std::byte> left;
  for (auto event = end; event != waiting_.end(); ++event) {
    const auto* const body = bodies_.data() + event->body;
    event->body = left.size();
    left.insert(left.end(), body, body + event->bytes);
  }
  waiting_.erase(waiting_.begin(), end);
  bodies_ = std::move(left);
  tell_problems();
}

void PytorchSource::process(const Event& event) {
  const std::byte* const body = bodies_.data() + event.body;
  Thread& on = thread(event.thread);
  const auto host = [&] { return lane(event.thread, on, trace::LaneKind::host_thread); };
  // A wait that ends by an exception has no end of its own. (One may end ranges that PyTorch gave to the
  // work.)
  const bool in_wait = event.type == RecordType::message_end || event.type == RecordType::wait_end ||
                       event.type == RecordType::range_end;
  if (!in_wait && operations_->left_wait(event.thread, event.time)) {
    on.loop.end_wait(event.time);
    close(on, RecordType::wait_end, 0, event.time);
  }
  switch (event.type) {
    case RecordType::group:
      return operations_->group(body, event.bytes);
    case RecordType::call: {
      const auto call = read_record<CallRecord>(body, event.bytes);
      const trace::Nanoseconds begin = context_->clock.convert(call.begin_ticks);
      on.called = {event.time, operations_->call(call, host(), begin, event.time)};
      return;
    }
    case RecordType::enqueue:
      return operations_->enqueue(read_record<WorkRecord>(body, event.bytes));
    case RecordType::work_begin:
      return operations_->begin(read_record<WorkRecord>(body, event.bytes),
                                lane(event.thread, on, trace::LaneKind::communication), host(), event.time);
    case RecordType::work_end:
      return operations_->end(read_record<WorkRecord>(body, event.bytes), event.time);
    case RecordType::message_end:
      return operations_->end_message(read_record<WorkRecord>(body, event.bytes), event.time);
    case RecordType::message_done:
      return operations_->message_done(read_record<WorkRecord>(body, event.bytes), event.time);
    case RecordType::work_finished:
      return operations_->finished(read_record<WorkRecord>(body, event.bytes),
                                   lane(event.thread, on, trace::LaneKind::communication), event.time);
    case RecordType::wait_begin:
      operations_->wait_began(event.thread, read_record<WorkRecord>(body, event.bytes));
      on.loop.begin_wait(on.called.computed_until(event.time));
      open(on, event.time, trace::kWaitForCommunication, RecordType::wait_end, 0);
      return;
    case RecordType::wait_end:
      operations_->wait_ended(event.thread, read_record<WorkRecord>(body, event.bytes), event.time);
      on.loop.end_wait(event.time);
      return close(on, RecordType::wait_end, 0, event.time);
    case RecordType::range_begin:
      return open_range(on, event, body);
    case RecordType::range_end:
      return close(on, RecordType::range_end, read_record<RangeRecord>(body, event.bytes).range, event.time);
    case RecordType::phase_begin:
    case RecordType::phase_end:
      return phase(on, event, body);
    case RecordType::step:
      note_training_thread(event.thread);
      return on.loop.step_began(read_record<StepRecord>(body, event.bytes).number, event.time);
    case RecordType::module_begin:
      return module_begin(on, event, body);
    case RecordType::module_end:
      on.modules.end(read_record<ModuleRecord>(body, event.bytes).node);
      return close(on, RecordType::module_end, 0, event.time);
    case RecordType::operator_begin:
      return operator_begin(on, event, body);
    case RecordType::operator_end:
      return operator_end(on, event);
    case RecordType::past_range:
    case RecordType::python_place:
      return past_range(on, event, body);
    case RecordType::long_begin:
    case RecordType::long_end:
      return long_range(on, event, body);
    case RecordType::device:
      device_ = read_record<DeviceRecord>(body, event.bytes).cpu != 0 ? Device::cpu : Device::gpu;
      return;
  }
}

void PytorchSource::phase(Thread& thread, const Event& event, const std::byte* body) {
  if (event.type == RecordType::phase_end) return end_phase(thread, event, body);
  const auto record = read_record<PhaseRecord>(body, event.bytes);
  if (record.phase < Phase::data || record.phase > Phase::optimizer) return;
  end_backward_of_module(thread);
  if (record.phase != Phase::data) note_training_thread(event.thread);
  if (record.phase >= Phase::backward) thread.evaluation.train();
  const bool numbered = record.phase != Phase::optimizer && record.identity <= INT32_MAX;
  const std::int32_t microbatch = numbered ? static_cast<std::int32_t>(record.identity) - 1 : -1;
  thread.loop.begin(record.phase, record.identity, microbatch, event.time, record.ran);
  // The optimizer's range comes from PyTorch itself, with its class.
  open(thread, event.time, name_of(record.phase), RecordType::phase_end,
       static_cast<std::uint64_t>(record.phase), record.phase != Phase::optimizer);
}

void PytorchSource::end_phase(Thread& thread, const Event& event, const std::byte* body) {
  const auto record = read_record<PhaseEndRecord>(body, event.bytes);
  if (record.phase < Phase::data || record.phase > Phase::optimizer) return;
  end_backward_of_module(thread);
  thread.loop.end(record.phase, event.time, record.ran);
  close(thread, RecordType::phase_end, static_cast<std::uint64_t>(record.phase), event.time);
}

void PytorchSource::write_loops() {
  for (auto& [id, thread] : threads_) {
    write_evaluation(thread);
    for (trace::Step step : thread.loop.take_steps()) {
      if (step_thread_ == 0) step_thread_ = id;
      if (step_thread_ != id) continue;
      step.lane = lane(id, thread, trace::LaneKind::host_thread);
      context_->writer.append(step);
    }
    std::vector<TrainingLoop::Computed> computed = thread.loop.take_computed();
    if (device_ == Device::gpu || computed.empty() || computed_.size() > kMaxUndecided) continue;
    const trace::LaneId on = lane(id, thread, trace::LaneKind::compute_thread);
    computed_lanes_.insert(computed_lanes_.end(), computed.size(), on);
    computed_.insert(computed_.end(), computed.begin(), computed.end());
  }
  if (device_ == Device::unknown) return;
  for (std::size_t i = 0; i < computed_.size() && device_ == Device::cpu; ++i) {
    trace::DeviceActivity activity;
    activity.lane = computed_lanes_[i];
    activity.begin = computed_[i].begin;
    activity.end = computed_[i].end;
    activity.name = context_->writer.intern(name_of(computed_[i].pass));
    activity.microbatch = computed_[i].microbatch;
    activity.pass = computed_[i].pass;
    context_->writer.append(activity);
  }
  computed_.clear();
  computed_lanes_.clear();
}

void PytorchSource::note_open() {
  // A slow step asks for this right after its end, long before the next one's optimizer would tell it.
  for (auto& [id, thread] : threads_) thread.loop.close_counted_step();
  write_loops();
}

PytorchSource::Thread& PytorchSource::thread(std::uint32_t id) {
  const auto [where, fresh] = threads_.try_emplace(id);
  Thread& thread = where->second;
  if (fresh) {
    thread.id = id;
    thread.name = thread_lane_name(id, context_->process.process);
  }
  return thread;
}

trace::LaneId PytorchSource::lane(std::uint32_t id, Thread& thread, trace::LaneKind kind) {
  trace::LaneId& lane = kind == trace::LaneKind::compute_thread  ? thread.compute
                        : kind == trace::LaneKind::communication ? thread.communication
                                                                 : thread.host;
  if (kind == trace::LaneKind::compute_thread) note_training_thread(id);
  if (kind == trace::LaneKind::communication) note_communication_thread(id);
  if (lane == kNoLane && kind == trace::LaneKind::host_thread) lane = context_->host_lanes.lane(id);
  if (lane == kNoLane) {
    lane = context_->writer.add_lane(
        trace::Lane{kind, static_cast<std::uint64_t>(context_->process.process), id, 0, thread.name});
  }
  return lane;
}

}  // namespace lockstep::tracer::pytorch

#include "tracer/inject/sources/pytorch/python_interface.h"

#include <time.h>

#include <cstring>
#include <span>
#include <string>

#include "tracer/inject/control/gate.h"
#include "tracer/inject/control/python_stacks.h"
#include "tracer/inject/control/steps.h"
#include "tracer/inject/core/tracer.h"
#include "tracer/inject/core/training_threads.h"
#include "tracer/inject/sources/host/host_source.h"
#include "tracer/inject/sources/pytorch/active.h"
#include "tracer/inject/sources/pytorch/gloo_works.h"
#include "tracer/inject/sources/pytorch/loaded_library.h"
#include "tracer/inject/sources/pytorch/process_groups.h"
#include "tracer/inject/sources/pytorch/python_stack.h"
#include "tracer/inject/sources/pytorch/pytorch_source.h"
#include "tracer/inject/sources/pytorch/recorded_operators.h"
#include "tracer/inject/sources/pytorch/step_counter.h"
#include "tracer/inject/sources/pytorch/tensor_sizes.h"
#include "tracer/inject/sources/pytorch/user_ranges.h"
#include "tracer/inject/sources/scheduling/scheduling_source.h"
#include "tracer/inject/writer/prepare.h"

namespace lockstep::tracer::pytorch {
namespace {

constexpr std::int32_t kVersion = 8;
constexpr std::size_t kLongestRange = 512;

StepCounter step_counter;  // under the interpreter's lock

void begin_step(std::int64_t number) noexcept {
  if (number > 0) control::step_seen(number - 1);
  control::step_began(number);
  note_always(RecordType::step, StepRecord{number});
}

std::int64_t ran_on_a_core() noexcept {
  timespec time{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return -1;
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Between a backward pass and its optimizer the thread computes as far as it runs (TrainingLoop).
PhaseRecord begin_record(std::int32_t phase, std::uint64_t identity) noexcept {
  PhaseRecord record;
  record.phase = static_cast<Phase>(phase);
  record.identity = identity;
  if (record.phase == Phase::optimizer && is_active()) record.ran = ran_on_a_core();
  return record;
}

PhaseEndRecord end_record(std::int32_t phase) noexcept {
  PhaseEndRecord record;
  record.phase = static_cast<Phase>(phase);
  if (record.phase == Phase::backward && is_active()) record.ran = ran_on_a_core();
  return record;
}

bool start(std::int32_t rank, std::int32_t world_size) {
  Tracer& tracer = Tracer::instance();
  if (is_active()) return true;
  tracer.suggest_rank(rank, world_size);
  host::register_if_wanted();  // its counters may be wanted without us
  if (!is_wanted("pytorch") || !prepare()) return false;
  PytorchSource& source = PytorchSource::instance();
  scheduling::register_if_wanted();
  const SourceId id = tracer.add_source(source);
  if (id == Tracer::kNoSource) return false;
  const auto torch = LoadedLibrary::find("libtorch_cpu.so");
  if (!torch.has_value()) {
    source.add_problem("libtorch_cpu.so is not loaded: collectives and ranges of PyTorch are not followed");
  } else {
    if (!find_size_functions(*torch))
      source.add_problem("sizes of collectives (this libtorch has no aoti_torch_get_numel)");
    source.add_problem(follow_user_ranges());
    source.add_problem(follow_gloo_works());
    if (operators_are_wanted()) source.add_problem(follow_operators());
  }
  active_source.store(id);
  step_counter = {};
  begin_step(0);
  return true;
}

}  // namespace
}  // namespace lockstep::tracer::pytorch

namespace pytorch = lockstep::tracer::pytorch;

int32_t lockstep_pytorch_version(void) {
  return pytorch::kVersion;
}

int32_t lockstep_pytorch_start(int32_t rank, int32_t world_size) {
  try {
    return pytorch::start(rank, world_size) ? 0 : 1;
  } catch (...) {
    return 1;
  }
}

void lockstep_pytorch_group(void* backend, const char* backend_name, const char* name,
                            const char* description, const int32_t* ranks, int32_t count, int32_t known) {
  if (backend == nullptr || ranks == nullptr || count <= 0 || !pytorch::is_active()) return;
  const auto text = [](const char* text) { return text != nullptr ? text : ""; };
  try {
    pytorch::PytorchSource::instance().add_problem(
        pytorch::declare_group(backend, text(backend_name), text(name), text(description),
                               std::span(ranks, static_cast<std::size_t>(count)), known != 0));
  } catch (...) {  // no memory: the group stays unknown
  }
}

void lockstep_pytorch_begin(int32_t phase, uint64_t identity) {
  if (phase == static_cast<int32_t>(pytorch::Phase::optimizer) && pytorch::is_active()) {
    try {
      pytorch::step_counter.begin_optimizer(identity);
    } catch (...) {  // no memory: this one is not counted
    }
  }
  pytorch::note_begin(pytorch::RecordType::phase_begin, pytorch::begin_record(phase, identity));
}

void lockstep_pytorch_end(int32_t phase, uint64_t) {
  pytorch::note_end(pytorch::RecordType::phase_end, pytorch::end_record(phase));
  if (phase != static_cast<int32_t>(pytorch::Phase::optimizer) || !pytorch::is_active()) return;
  if (const auto next = pytorch::step_counter.end_optimizer(); next.has_value()) pytorch::begin_step(*next);
}

void lockstep_pytorch_begin_range(const char* name) {
  if (name == nullptr) name = "";
  pytorch::note_begin(pytorch::RecordType::range_begin, pytorch::RangeRecord{pytorch::kOwnRange}, name,
                      static_cast<std::uint32_t>(strnlen(name, pytorch::kLongestRange)));
}

void lockstep_pytorch_end_range(void) {
  pytorch::note_end(pytorch::RecordType::range_end, pytorch::RangeRecord{pytorch::kOwnRange});
}

void lockstep_pytorch_past_range(const char* name, int64_t begin, int64_t end) {
  if (name == nullptr || begin < 0 || end < begin) return;
  pytorch::note(pytorch::RecordType::past_range, pytorch::PastRangeRecord{begin, end}, name,
                static_cast<std::uint32_t>(strnlen(name, pytorch::kLongestRange)));
}

int32_t lockstep_pytorch_begin_long_range(const char* name, int64_t begin) {
  if (name == nullptr) name = "";
  return pytorch::note_begin(pytorch::RecordType::long_begin, pytorch::PastRangeRecord{begin, begin}, name,
                             static_cast<std::uint32_t>(strnlen(name, pytorch::kLongestRange)))
             ? 1
             : 0;
}

void lockstep_pytorch_end_long_range(int64_t begin, int64_t end) {
  pytorch::note_end(pytorch::RecordType::long_end, pytorch::PastRangeRecord{begin, end});
}

int32_t lockstep_pytorch_is_recording(void) {
  return pytorch::is_active() && lockstep::tracer::control::is_recording() ? 1 : 0;
}

void lockstep_pytorch_python_place(const char* name, int64_t begin, int64_t end) {
  if (name == nullptr || begin < 0 || end < begin) return;
  pytorch::note(pytorch::RecordType::python_place, pytorch::PastRangeRecord{begin, end}, name,
                static_cast<std::uint32_t>(strnlen(name, pytorch::kLongestRange)));
}

void* lockstep_pytorch_own_thread_state(void) {
  return pytorch::own_thread_state();
}

int32_t lockstep_pytorch_read_stack(void* thread_state, void* places, int32_t capacity) {
  return pytorch::read_stack(thread_state, static_cast<pytorch::PythonPlace*>(places), capacity);
}

void lockstep_pytorch_release_stack(const void* places, int32_t count) {
  pytorch::release_stack(static_cast<const pytorch::PythonPlace*>(places), count);
}

void lockstep_pytorch_python_threads(const uint32_t* threads, int32_t count) {
  if (threads == nullptr || count < 0) return;
  lockstep::tracer::set_python_threads(std::span(threads, static_cast<std::size_t>(count)));
}

uint32_t lockstep_pytorch_begin_module(const char* name) {
  return pytorch::begin_module(name != nullptr ? name : "");
}

void lockstep_pytorch_end_module(uint32_t token) {
  pytorch::end_module(token);
}

void lockstep_pytorch_device(int32_t cpu) {
  pytorch::note_always(pytorch::RecordType::device, pytorch::DeviceRecord{cpu != 0 ? 1U : 0U});
}

void lockstep_pytorch_pause(int32_t paused) {
  static lockstep::tracer::SourceId source = lockstep::tracer::Tracer::kNoSource;
  if (pytorch::is_active()) source = pytorch::active_source.load();
  pytorch::active_source.store(paused != 0 ? lockstep::tracer::Tracer::kNoSource : source);
}

int32_t lockstep_pytorch_unused_signal(void) {
  return lockstep::tracer::control::find_unused_signal();
}

void lockstep_pytorch_stacks(int32_t signal, int32_t descriptor) {
  lockstep::tracer::control::offer_python_stacks(signal, descriptor);
}

void lockstep_pytorch_problem(const char* problem) {
  if (problem == nullptr) return;
  try {
    pytorch::PytorchSource::instance().add_problem(problem);
  } catch (...) {  // no memory for a remark
  }
}

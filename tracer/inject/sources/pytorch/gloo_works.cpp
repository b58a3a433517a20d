// Compiled without exceptions, as backend_calls.cpp is: what PyTorch throws passes through.
#include "tracer/inject/sources/pytorch/gloo_works.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "tracer/inject/sources/pytorch/active.h"
#include "tracer/inject/sources/pytorch/backend_calls.h"
#include "tracer/inject/sources/pytorch/loaded_library.h"
#include "tracer/inject/sources/pytorch/message_ends.h"

namespace lockstep::tracer::pytorch {

namespace {

constexpr const char* kEnqueue =
    "_ZN4c10d16ProcessGroupGloo7enqueueEN3c1013intrusive_ptrINS0_9AsyncWorkENS1_6detail34intrusive_target_"
    "default_null_typeIS3_EEEE";
constexpr const char* kExecute =
    "_ZN4c10d16ProcessGroupGloo9AsyncWork7executeERKN3c1013intrusive_ptrIS1_NS2_6detail34intrusive_target_"
    "default_null_typeIS1_EEEE";
constexpr const char* kFinish = "_ZN4c10d16ProcessGroupGloo9AsyncWork14finishWorkGlooEv";
constexpr const char* kFinalizeBackward = "_ZN4c10d7Reducer17finalize_backwardEv";
constexpr const char* kWait = "_ZN4c10d4Work4waitENSt6chrono8durationIlSt5ratioILl1ELl1000EEEE";
constexpr const char* kSendWait =
    "_ZN4c10d16ProcessGroupGloo8SendWork4waitENSt6chrono8durationIlSt5ratioILl1ELl1000EEEE";
constexpr const char* kRecvWait =
    "_ZN4c10d16ProcessGroupGloo8RecvWork4waitENSt6chrono8durationIlSt5ratioILl1ELl1000EEEE";
constexpr const char* kSendTable = "_ZTVN4c10d16ProcessGroupGloo8SendWorkE";
constexpr const char* kRecvTable = "_ZTVN4c10d16ProcessGroupGloo8RecvWorkE";
// An object points behind the table's offset and type information.
constexpr std::size_t kBeforeEntries = 2;
constexpr std::size_t kLongestTable = 64;

// A c10::intrusive_ptr in memory.
struct WorkPointer {
  void** work = nullptr;  // the object begins with the address of its table
};
// chrono::milliseconds is passed as the integer that it holds.
using Enqueue = void (*)(void* self, WorkPointer* work);
using Execute = void (*)(const WorkPointer* work);
using Finish = void (*)(void* self);
using Wait = bool (*)(void* self, std::int64_t milliseconds);
using FinalizeBackward = void (*)(void* self);

Enqueue enqueue = nullptr;
Execute execute = nullptr;
Finish finish = nullptr;
FinalizeBackward finalize_backward = nullptr;
Wait wait_for_work = nullptr;
Wait wait_for_send = nullptr;
Wait wait_for_recv = nullptr;

void note_work(RecordType type, const void* work, std::uint64_t call = 0) noexcept {
  note(type, WorkRecord{reinterpret_cast<std::uintptr_t>(work), call});
}

bool noted_wait(void* self, std::int64_t milliseconds) {
  note_wait_begin();
  const bool done = wait_for_work(self, milliseconds);
  // Whoever waits goes on at once; the group's thread may need a core first, to come to its own note of the
  // end.
  note_end(RecordType::wait_end, WorkRecord{reinterpret_cast<std::uintptr_t>(done ? self : nullptr), 0});
  return done;
}

template <Wait* kOriginal>
bool noted_message_wait(void* self, std::int64_t milliseconds) {
  note_wait_begin();
  const bool done = (*kOriginal)(self, milliseconds);
  note_work(RecordType::message_end, self);
  note_wait_end();
  return done;
}

// Each kind of collective has a class of its own, which libtorch does not export: its table is found by the
// first object, and remembered.
void follow_waits_of(void** table) noexcept {
  static std::array<std::atomic<void**>, 64> known{};
  for (std::atomic<void**>& entry : known) {
    void** there = entry.load(std::memory_order_acquire);
    if (there == table) return;
    if (there != nullptr) continue;
    if (!entry.compare_exchange_strong(there, table)) {
      if (there == table) return;
      continue;
    }
    replace_virtual(table, kLongestTable, reinterpret_cast<void*>(wait_for_work),
                    reinterpret_cast<void*>(noted_wait));
    return;
  }
}

void noted_enqueue(void* self, WorkPointer* work) {
  if (work->work != nullptr) {
    if (wait_for_work != nullptr) follow_waits_of(reinterpret_cast<void**>(*work->work));
    note_work(RecordType::enqueue, work->work, note_enqueued_work());
  }
  enqueue(self, work);
}

void noted_execute(const WorkPointer* work) {
  const void* const object = work->work;
  const WorkRecord record{reinterpret_cast<std::uintptr_t>(object), 0};
  note_begin(RecordType::work_begin, record);
  execute(work);
  note_end(RecordType::work_end, record);
}

// Within execute, when all data has come: then whoever waits is woken (by Work::wait, or by its future, as
// DDP's Reducer is), and may take the core from this thread before it returns.
void noted_finish(void* self) {
  note_work(RecordType::work_end, self);
  finish(self);
}

void noted_finalize_backward(void* self) {
  note_wait_begin();
  finalize_backward(self);
  note_wait_end();
}

bool follow_messages(const LoadedLibrary& torch, const char* table_name, const char* wait_name,
                     Wait* original, Wait replacement) {
  auto** const table = static_cast<void**>(torch.symbol(table_name));
  *original = torch.function<Wait>(wait_name);
  return table != nullptr && *original != nullptr &&
         replace_virtual(table + kBeforeEntries, kLongestTable, reinterpret_cast<void*>(*original),
                         reinterpret_cast<void*>(replacement));
}

void add_problem(std::string& problems, bool fine, const char* what) {
  if (!fine) problems += (problems.empty() ? "" : "; ") + std::string(what);
}

}  // namespace

std::string follow_gloo_works() {
  static bool followed = false;
  if (followed) return {};
  followed = true;
  const std::optional<LoadedLibrary> torch = LoadedLibrary::find("libtorch_cpu.so");
  if (!torch.has_value()) return "libtorch_cpu.so is not loaded";
  std::string problems;
  // First where calls go on to, then the redirection: another thread may call at once.
  wait_for_work = torch->function<Wait>(kWait);
  add_problem(problems, wait_for_work != nullptr, "waits for collectives (no c10d::Work::wait)");
  enqueue = torch->function<Enqueue>(kEnqueue);
  execute = torch->function<Execute>(kExecute);
  const bool both = enqueue != nullptr && execute != nullptr;
  const bool queued = both && torch->redirect(kEnqueue, reinterpret_cast<void*>(noted_enqueue)) != nullptr &&
                      torch->redirect(kExecute, reinterpret_cast<void*>(noted_execute)) != nullptr;
  add_problem(problems, queued,
              "when Gloo's threads run collectives (ProcessGroupGloo::enqueue and AsyncWork::execute)");
  // Where it is missing, what ends a work is that execute returns.
  finish = torch->function<Finish>(kFinish);
  if (finish != nullptr) torch->redirect(kFinish, reinterpret_cast<void*>(noted_finish));
  finalize_backward = torch->function<FinalizeBackward>(kFinalizeBackward);
  add_problem(
      problems,
      finalize_backward != nullptr &&
          torch->redirect(kFinalizeBackward, reinterpret_cast<void*>(noted_finalize_backward)) != nullptr,
      "the wait for gradient buckets at the end of DDP's backward pass");
  const bool sends =
      follow_messages(*torch, kSendTable, kSendWait, &wait_for_send, noted_message_wait<&wait_for_send>);
  const bool receives =
      follow_messages(*torch, kRecvTable, kRecvWait, &wait_for_recv, noted_message_wait<&wait_for_recv>);
  add_problem(problems, sends && receives, "when sends and receives end");
  const std::string message_ends = follow_message_ends();
  add_problem(problems, message_ends.empty(), message_ends.c_str());
  return problems;
}

}  // namespace lockstep::tracer::pytorch

// Compiled without exceptions, as backend_calls.cpp is: what PyTorch throws passes through.
#include "tracer/inject/sources/pytorch/backend_works.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "tracer/inject/sources/pytorch/active.h"
#include "tracer/inject/sources/pytorch/loaded_library.h"

namespace lockstep::tracer::pytorch {

namespace {

constexpr const char* kFinish = "_ZN4c10d4Work6finishENSt15__exception_ptr13exception_ptrE";
constexpr const char* kTableOfMpi = "_ZTVN4c10d15ProcessGroupMPI7WorkMPIE";
// An object points behind the table's offset and type information.
constexpr std::size_t kBeforeEntries = 2;
constexpr std::size_t kLongestTable = 64;

struct WorkClass {
  const char* backend;
  const char* library;
  const char* table;
  const char* wait;  // of the class itself, or the one that it inherits
};
// As in torch 2.4 to 2.11.
constexpr std::array<WorkClass, 3> kWorks{{
    {"mpi", "libtorch_cpu.so", kTableOfMpi,
     "_ZN4c10d4Work4waitENSt6chrono8durationIlSt5ratioILl1ELl1000EEEE"},
    {"mpi", "libtorch_cpu.so", "_ZTVN4c10d15ProcessGroupMPI9AsyncWorkE",
     "_ZN4c10d15ProcessGroupMPI9AsyncWork4waitENSt6chrono8durationIlSt5ratioILl1ELl1000EEEE"},
    {"ucc", "libtorch_cuda.so", "_ZTVN4c10d15ProcessGroupUCC7WorkUCCE",
     "_ZN4c10d15ProcessGroupUCC7WorkUCC4waitENSt6chrono8durationIlSt5ratioILl1ELl1000EEEE"},
}};

// chrono::milliseconds is passed as the integer that it holds, an exception_ptr by its address.
using Wait = bool (*)(void* self, std::int64_t milliseconds);
using Finish = void (*)(void* self, void* exception);

std::array<Wait, kWorks.size()> waits{};
Finish finish = nullptr;
void** table_of_mpi = nullptr;

template <std::size_t kWork>
bool noted_wait(void* self, std::int64_t milliseconds) {
  const WorkRecord record{reinterpret_cast<std::uintptr_t>(self), 0};
  note_begin(RecordType::wait_begin, record);
  const bool done = waits[kWork](self, milliseconds);
  // The first also where the beginning was not recorded; the second has its room put aside.
  note_always(RecordType::message_end, record);
  note_end(RecordType::wait_end, record);
  return done;
}

template <std::size_t... kWork>
constexpr std::array<Wait, kWorks.size()> all_noted(std::index_sequence<kWork...>) {
  return {noted_wait<kWork>...};
}
constexpr std::array<Wait, kWorks.size()> kNotedWaits = all_noted(std::make_index_sequence<kWorks.size()>());

// Gloo's works are finished so too.
void noted_finish(void* self, void* exception) {
  if (*static_cast<void***>(self) == table_of_mpi)
    note_always(RecordType::work_finished, WorkRecord{reinterpret_cast<std::uintptr_t>(self), 0});
  finish(self, exception);
}

bool follow_waits(const LoadedLibrary& library, std::size_t index) {
  auto** const table = static_cast<void**>(library.symbol(kWorks[index].table));
  waits[index] = library.function<Wait>(kWorks[index].wait);
  return table != nullptr && waits[index] != nullptr &&
         replace_virtual(table + kBeforeEntries, kLongestTable, reinterpret_cast<void*>(waits[index]),
                         reinterpret_cast<void*>(kNotedWaits[index]));
}

bool follow_finish(const LoadedLibrary& library) {
  if (finish != nullptr) return true;
  auto** const table = static_cast<void**>(library.symbol(kTableOfMpi));
  if (table == nullptr) return false;
  table_of_mpi = table + kBeforeEntries;
  finish = library.function<Finish>(kFinish);
  return finish != nullptr && library.redirect(kFinish, reinterpret_cast<void*>(noted_finish)) != nullptr;
}

}  // namespace

std::string follow_works_of(std::string_view backend) {
  std::string problems;
  const auto add = [&](const char* problem) {
    problems += (problems.empty() ? "" : "; ") + std::string(problem);
  };
  for (std::size_t i = 0; i < kWorks.size(); ++i) {
    if (backend != kWorks[i].backend || waits[i] != nullptr) continue;
    const std::optional<LoadedLibrary> library = LoadedLibrary::find(kWorks[i].library);
    if (!library.has_value() || !follow_waits(*library, i)) add("waits for collectives and messages");
    if (kWorks[i].table == kTableOfMpi && (!library.has_value() || !follow_finish(*library)))
      add("when collectives end before they are waited for (c10d::Work::finish)");
  }
  return problems;
}

}  // namespace lockstep::tracer::pytorch

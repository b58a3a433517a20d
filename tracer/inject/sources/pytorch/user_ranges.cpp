#include "tracer/inject/sources/pytorch/user_ranges.h"

#include <cstdint>
#include <cstring>
#include <optional>

#include "tracer/inject/sources/pytorch/active.h"
#include "tracer/inject/sources/pytorch/loaded_library.h"
#include "tracer/inject/sources/pytorch/record_function.h"

namespace lockstep::tracer::pytorch {

namespace {

constexpr std::size_t kLongestName = 512;

NameOf name_of = nullptr;
using GradientsAreOn = bool (*)();
GradientsAreOn gradients_are_on = nullptr;  // c10::GradMode::is_enabled, of the calling thread

// Collectives have events of their own; and their ranges end on another thread, or out of turn.
bool is_collective(const char* name) {
  return std::strncmp(name, "gloo:", 5) == 0 || std::strncmp(name, "nccl:", 5) == 0;
}

// What wrappers name of a forward pass.
bool is_of_forward(const char* name) {
  return std::strncmp(name, "FSDP::", 6) == 0 || std::strcmp(name, "DistributedDataParallel.forward") == 0 ||
         std::strcmp(name, "FullyShardedDataParallel.forward") == 0;
}

NoContext begin_range(const void* function) {
  const char* name = name_of(function);
  if (name == nullptr) name = "";
  if (!is_collective(name)) {
    const bool without = gradients_are_on != nullptr && is_of_forward(name) && !gradients_are_on();
    const RangeRecord record{reinterpret_cast<std::uintptr_t>(function), without ? 1U : 0U};
    note_begin(RecordType::range_begin, record, name,
               static_cast<std::uint32_t>(strnlen(name, kLongestName)));
  }
  return {};
}

void end_range(const void* function, void*) {
  const char* const name = name_of(function);
  if (name != nullptr && is_collective(name)) return;
  note_end(RecordType::range_end, RangeRecord{reinterpret_cast<std::uintptr_t>(function)});
}

}  // namespace

std::string follow_user_ranges() {
  static bool followed = false;
  if (followed) return {};
  followed = true;
  const std::optional<LoadedLibrary> torch = LoadedLibrary::find("libtorch_cpu.so");
  if (!torch.has_value()) return "libtorch_cpu.so is not loaded";
  const auto add = torch->function<AddGlobalCallback>(kAddGlobalCallback);
  name_of = torch->function<NameOf>(kNameOf);
  if (add == nullptr || name_of == nullptr)
    return "ranges of record_function (this libtorch has no at::addGlobalCallback that we know)";
  if (const std::optional<LoadedLibrary> c10 = LoadedLibrary::find("libc10.so"))
    gradients_are_on = c10->function<GradientsAreOn>("_ZN3c108GradMode10is_enabledEv");
  Callback callback;
  callback.start = begin_range;
  callback.end = end_range;
  callback.scopes[kUserScope] = true;
  add(callback);
  return {};
}

}  // namespace lockstep::tracer::pytorch

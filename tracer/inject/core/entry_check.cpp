#include "tracer/inject/core/entry_check.h"

#include <elf.h>
#include <sys/auxv.h>

// Where a program has these, they are in its image or in a library that was loaded before us.
// NOLINTBEGIN(bugprone-reserved-identifier): the sanitizers' own names
extern "C" {
__attribute__((weak, visibility("default"))) void __tsan_init();
__attribute__((weak, visibility("default"))) void __msan_init();
// DataFlowSanitizer's own beginning has no C name. Code that it instruments calls this one.
__attribute__((weak, visibility("default"))) void __dfsan_unimplemented();
}
// NOLINTEND(bugprone-reserved-identifier)

namespace lockstep::tracer {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kInstrumented = true;
#elif defined(__has_feature)
constexpr bool kInstrumented = __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer);
#else
constexpr bool kInstrumented = false;
#endif

// A dynamically linked program names its loader, which the kernel then maps (AT_BASE). A loader that is
// called as a command (`ld.so PROGRAM`) has none mapped, but shows us the program's headers.
bool is_static() noexcept {
  if (getauxval(AT_BASE) != 0) return false;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel's table holds addresses as numbers
  const auto* header = reinterpret_cast<const Elf64_Phdr*>(getauxval(AT_PHDR));
  const unsigned long count = header != nullptr ? getauxval(AT_PHNUM) : 0;
  for (unsigned long i = 0; i < count; ++i)
    if (header[i].p_type == PT_INTERP) return false;
  return true;
}

}  // namespace

const char* why_left_alone() noexcept {
  if (is_static()) return "it is statically linked";
  if (kInstrumented) return nullptr;
  if (&__tsan_init != nullptr) return "it is built with ThreadSanitizer";
  if (&__msan_init != nullptr) return "it is built with MemorySanitizer";
  if (&__dfsan_unimplemented != nullptr) return "it is built with DataFlowSanitizer";
  return nullptr;
}

}  // namespace lockstep::tracer

#include "tracer/inject/sources/cupti/neighbours.h"

#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace lockstep::tracer::cupti {

namespace {

// Words of Kineto's API object among which the pointer to its profiler is looked for.
constexpr std::size_t kWords = 8;
// Of a table of methods: what comes before the first one.
constexpr std::size_t kTableHead = 2 * sizeof(void*);

// Whatever the address: false where there is no memory.
bool read_memory(const void* address, void* to, std::size_t bytes) {
  iovec here{to, bytes};
  iovec there{const_cast<void*>(address), bytes};
  const int saved = errno;
  const bool read =
      address != nullptr && process_vm_readv(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
  errno = saved;
  return read;
}

}  // namespace

std::string nsight_in_process(const char* (*lookup)(const char*), const std::vector<std::string>& loaded) {
  for (const char* variable : {"NSYS_PROFILING_SESSION_ID", "NV_COMPUTE_PROFILER_PERFWORKS_DIR"}) {
    if (lookup(variable) != nullptr) return std::string(variable) + " is set";
  }
  for (const std::string& library : loaded) {
    const std::string name = library.substr(library.rfind('/') + 1);
    for (const char* part : {"libToolsInjection", "libcuda-injection.so", "libTreeLauncher"}) {
      if (name.starts_with(part)) return name + " is loaded";
    }
  }
  return {};
}

bool KinetoProbe::look_up() {
  if (is_active_ != nullptr) return true;
  // Python loads it locally: its names are not among the global ones. Never loads it ourselves.
  void* const library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (library == nullptr) return false;
  api_ = reinterpret_cast<void* (*)()>(dlsym(library, "_ZN9libkineto3apiEv"));
  const auto* const table =
      static_cast<const std::byte*>(dlsym(library, "_ZTVN9libkineto21ActivityProfilerProxyE"));
  const auto is_active =
      reinterpret_cast<bool (*)(void*)>(dlsym(library, "_ZN9libkineto21ActivityProfilerProxy8isActiveEv"));
  if (api_ == nullptr || table == nullptr) return false;
  methods_ = table + kTableHead;
  is_active_ = is_active;
  return is_active_ != nullptr;
}

bool KinetoProbe::is_active() {
  if (!look_up()) return false;
  if (profiler_ == nullptr) {
    // Where in the object the pointer stands differs between versions; what it points to tells itself by its
    // table of methods. It appears when Kineto has been initialized.
    std::array<void*, kWords> words{};
    if (!read_memory(api_(), words.data(), sizeof words)) return false;
    for (void* const word : words) {
      const void* methods = nullptr;
      if (reinterpret_cast<std::uintptr_t>(word) % sizeof(void*) == 0 &&
          read_memory(word, &methods, sizeof methods) && methods == methods_) {
        profiler_ = word;
      }
    }
  }
  return profiler_ != nullptr && is_active_(profiler_);
}

}  // namespace lockstep::tracer::cupti

// For test programs that open a window under AddressSanitizer: graphics drivers lose some memory, and are
// unloaded before the leak checker looks, so that it can't tell whose it is. They stay loaded here, and what
// they lose is left out by their name; what the viewer loses is still found. Mesa draws on the caller's
// thread and compiles there too: the leak checker, which stops all threads and reads their memory, was seen
// to crash over threads that the driver was just starting or ending.
#if defined(__SANITIZE_ADDRESS__)

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <thread>

namespace {

// A thread that was joined may still be ending as far as the kernel is concerned, and the leak checker
// crashes over those.
void wait_for_threads() {
  for (int tries = 0; tries < 2'000; ++tries) {
    std::error_code error;
    std::filesystem::directory_iterator threads("/proc/self/task", error);
    if (error || std::distance(begin(threads), end(threads)) <= 1) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

[[gnu::constructor]] void keep_drivers_single_threaded() {
  for (const char* const setting :
       {"LP_NUM_THREADS=0", "MESA_SHADER_CACHE_DISABLE=true", "mesa_glthread=false", "GALLIUM_THREAD=0"})
    putenv(const_cast<char*>(setting));
  std::atexit(wait_for_threads);  // runs after those of main(), and before the leak checker's own
}

}  // namespace

extern "C" {

int dlclose(void*) {
  return 0;
}

const char* __lsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier): the sanitizer's name
  return "leak:libGL\nleak:libEGL\nleak:libX11\nleak:libxcb\nleak:_dri.so\nleak:libgallium\nleak:libLLVM\n";
}

}  // extern "C"

#endif

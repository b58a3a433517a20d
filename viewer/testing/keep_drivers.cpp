// For test programs that open a window under AddressSanitizer: graphics drivers lose some memory, and are
// unloaded before the leak checker looks, so that it can't tell whose it is. They stay loaded here, and what
// they lose is left out by their name; what the viewer loses is still found. Mesa draws on the caller's
// thread and compiles there too: the leak checker, which stops all threads and reads their memory, was seen
// to crash over threads that the driver was just starting or ending.
#if defined(__SANITIZE_ADDRESS__)

#include <cstdlib>

namespace {

[[gnu::constructor]] void keep_drivers_single_threaded() {
  for (const char* const setting :
       {"LP_NUM_THREADS=0", "MESA_SHADER_CACHE_DISABLE=true", "mesa_glthread=false", "GALLIUM_THREAD=0"})
    putenv(const_cast<char*>(setting));
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

// For test programs that open a window under AddressSanitizer: graphics drivers lose some memory, and are
// unloaded before the leak checker looks, so that it can't tell whose it is. They stay loaded here, and what
// they lose is left out by their name; what the viewer loses is still found. Mesa draws on the caller's
// thread and compiles there too: the leak checker, which stops all threads and reads their memory, was seen
// to crash over threads that the driver was just starting or ending.
#if defined(__SANITIZE_ADDRESS__)

#include <sanitizer/lsan_interface.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

namespace {

constexpr int kLeaks = 77;
bool checked = false;

// The leak checker crashes now and then ("Tracer caught signal 11") over what drivers leave of their threads;
// that is no finding. So it looks in a copy of the process, which has one thread alone, and again where it
// crashed. What it finds ends the program as ever.
void look_for_leaks() {
  for (int tries = 0; tries < 5 && !checked; ++tries) {
    const pid_t copy = ::fork();
    if (copy < 0) return;
    if (copy == 0) ::_exit(__lsan_do_recoverable_leak_check() != 0 ? kLeaks : 0);
    int status = 0;
    if (::waitpid(copy, &status, 0) != copy || !WIFEXITED(status)) continue;
    if (WEXITSTATUS(status) == kLeaks) std::_Exit(kLeaks);
    checked = WEXITSTATUS(status) == 0;
  }
  if (!checked) std::fputs("leaks were not looked for: the leak checker crashed each time\n", stderr);
  checked = true;
}

[[gnu::constructor]] void keep_drivers_single_threaded() {
  for (const char* const setting :
       {"LP_NUM_THREADS=0", "MESA_SHADER_CACHE_DISABLE=true", "mesa_glthread=false", "GALLIUM_THREAD=0"})
    putenv(const_cast<char*>(setting));
  std::atexit(look_for_leaks);  // after those of main(), and before the leak checker's own
}

}  // namespace

extern "C" {

// Once everything was looked at, there is nothing left for the check at the end.
int __lsan_is_turned_off() {  // NOLINT(bugprone-reserved-identifier): the sanitizer's name
  return checked ? 1 : 0;
}

int dlclose(void*) {
  return 0;
}

const char* __lsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier): the sanitizer's name
  return "leak:libGL\nleak:libEGL\nleak:libX11\nleak:libxcb\nleak:_dri.so\nleak:libgallium\nleak:libLLVM\n";
}

}  // extern "C"

#endif

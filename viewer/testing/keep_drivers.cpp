// For test programs that open a window under AddressSanitizer: graphics drivers lose some memory, and are
// unloaded before the leak checker looks, so that it can't tell whose it is. They stay loaded here, and what
// they lose is left out by their name; what the viewer loses is still found.
#if defined(__SANITIZE_ADDRESS__)

extern "C" {

int dlclose(void*) {
  return 0;
}

const char* __lsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier): the sanitizer's name
  return "leak:libGL\nleak:libEGL\nleak:libX11\nleak:libxcb\nleak:_dri.so\nleak:libgallium\nleak:libLLVM\n";
}

}  // extern "C"

#endif

#include "base/own_program.h"

#include <sys/auxv.h>

namespace lockstep {

std::filesystem::path own_program(std::error_code& error) {
  std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  // The dynamic loader gets it from the kernel.
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel's table holds addresses as numbers
  const auto* const started_as = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (error && started_as != nullptr) path = std::filesystem::absolute(started_as, error);
  return path;
}

}  // namespace lockstep

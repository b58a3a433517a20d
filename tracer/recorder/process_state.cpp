#include "tracer/recorder/process_state.h"

#include <signal.h>

#include <cerrno>
#include <string>

#include "base/small_file.h"

namespace lockstep::tracer::record {

bool lives(pid_t process) {
  // 0 and what is below it are groups of processes.
  if (process <= 0 || (kill(process, 0) != 0 && errno != EPERM)) return false;
  const std::string text = read_small_file("/proc/" + std::to_string(process) + "/stat");
  const std::size_t state = text.rfind(") ");
  return state == std::string::npos || state + 2 >= text.size() ||
         (text[state + 2] != 'Z' && text[state + 2] != 'X');
}

}  // namespace lockstep::tracer::record

#include "tracer/doctor/machine.h"

namespace lockstep::tracer::doctor {

std::optional<std::string> Machine::set_variable(const std::string& name) const {
  std::optional<std::string> value = variable(name);
  if (value.has_value() && value->empty()) value.reset();
  return value;
}

std::string Machine::find_command(const std::string& command) const {
  if (command.empty()) return {};
  if (command.find('/') != std::string::npos) return is_executable(command) ? command : std::string();
  const std::string path = variable("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  for (std::size_t begin = 0; begin <= path.size();) {
    std::size_t end = path.find(':', begin);
    if (end == std::string::npos) end = path.size();
    const std::string folder = end == begin ? "." : path.substr(begin, end - begin);
    if (std::string candidate = folder + "/" + command; is_executable(candidate)) return candidate;
    begin = end + 1;
  }
  return {};
}

}  // namespace lockstep::tracer::doctor

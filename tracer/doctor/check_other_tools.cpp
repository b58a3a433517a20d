// Other profilers: places that only one tool can have, and those who have them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "tracer/doctor/checks.h"

namespace lockstep::tracer::doctor {

namespace {

bool is_ours(std::string_view path) {
  return path.substr(path.rfind('/') + 1) == "liblockstep-inject.so";
}

// A variable that names the one library that gets something.
struct Place {
  const char* variable;
  const char* check;
  const char* source;
  const char* what;
};
constexpr std::array kPlaces{
    Place{"NVTX_INJECTION64_PATH", "tools.nvtx", "nvtx", "the NVTX ranges"},
    Place{"CUDA_INJECTION64_PATH", "tools.cuda", "cupti", "the place in CUDA's start"},
    Place{"NCCL_PROFILER_PLUGIN", "tools.nccl", "nccl", "NCCL's profiler events"},
};

void check_place(const Machine& machine, const Place& place, Checks& checks) {
  const std::optional<std::string> value = machine.set_variable(place.variable);
  if (!value.has_value() || is_ours(*value)) return;
  Check check{
      place.check,
      {place.source},
      State::missing,
      fmt::format("{}={}: that tool gets {}, and Lockstep does not", place.variable, *value, place.what),
      fmt::format("unset {} for the recorded job", place.variable)};
  // The NVTX side of CUPTI and of NCCL goes on without that place.
  if (std::string_view(place.source) != "nvtx") check.state = State::limited;
  check.values["value"] = *value;
  checks.push_back(check);
}

void check_nsight(const Machine& machine, Checks& checks) {
  std::string seen;
  for (const std::string& name : machine.variable_names()) {
    const bool nsight = name.starts_with("NSYS_") || name.starts_with("QUADD_") ||
                        name.starts_with("NV_NSIGHT_") || name.starts_with("NV_COMPUTE_PROFILER") ||
                        name.starts_with("NV_TPS_LAUNCH_");
    if (nsight) seen += (seen.empty() ? "" : ", ") + name;
  }
  if (seen.empty()) return;
  checks.push_back({"tools.nsight",
                    {"cupti"},
                    State::limited,
                    fmt::format("inside of Nsight (variables {}): it owns the GPU's trace", seen),
                    "record without nsys or ncu around the job, or use their own report"});
}

void check_torch_profiler(const Machine& machine, Checks& checks) {
  for (const char* name : {"KINETO_USE_DAEMON", "KINETO_CONFIG", "KINETO_DAEMON_INIT_DELAY_S"}) {
    const std::optional<std::string> value = machine.set_variable(name);
    if (!value.has_value() || *value == "0") continue;
    checks.push_back(
        {"tools.kineto",
         {},
         State::note,
         fmt::format("{}={}: PyTorch's profiler may be started from outside; Lockstep stops recording "
                     "the GPU while it runs",
                     name, *value),
         ""});
    return;
  }
}

// "TracerPid:\t4711" of /proc/self/status.
std::string tracer_of(const Machine& machine) {
  const std::string status = machine.read("/proc/self/status").value_or("");
  const std::size_t found = status.find("TracerPid:");
  if (found == std::string::npos) return {};
  const std::size_t begin = std::min(status.size(), status.find_first_not_of(" \t", found + 10));
  const std::size_t end = std::min(status.size(), status.find('\n', begin));
  std::string text = status.substr(begin, end - begin);
  return text == "0" ? std::string() : text;
}

}  // namespace

void check_other_tools(const Situation& situation, Checks& checks) {
  const Machine& machine = situation.machine;
  const std::size_t before = checks.size();
  for (const Place& place : kPlaces) check_place(machine, place, checks);
  check_nsight(machine, checks);
  check_torch_profiler(machine, checks);
  if (const auto preload = machine.set_variable("LD_PRELOAD"); preload.has_value()) {
    checks.push_back({"tools.preload",
                      {},
                      State::note,
                      fmt::format("LD_PRELOAD={}: stays as it is, Lockstep does not use it", *preload),
                      ""});
  }
  if (const std::string tracer = tracer_of(machine); !tracer.empty()) {
    checks.push_back(
        {"tools.debugger",
         {},
         State::note,
         fmt::format("process {} traces this one (a debugger, strace): the job will be slower by that",
                     tracer),
         ""});
  }
  if (checks.size() == before) {
    checks.push_back({"tools.none", {}, State::ok, "no other profiler is set in this environment", ""});
  }
}

}  // namespace lockstep::tracer::doctor

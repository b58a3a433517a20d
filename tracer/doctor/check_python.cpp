// Python, and PyTorch in it.
#include <fmt/format.h>

#include "tracer/doctor/checks.h"

namespace lockstep::tracer::doctor {

namespace {

constexpr int kOldestTorchMajor = 2;
constexpr int kOldestTorchMinor = 4;

}  // namespace

void check_python(const Situation& situation, Checks& checks) {
  const PythonFacts& python = situation.python;
  Check check{"python.interpreter", {"pytorch"}, State::ok, ""};
  if (!python.problem.empty()) {
    check.state = State::missing;
    check.finding = python.problem;
    check.remedy =
        "none needed for jobs without Python; else activate the job's environment, or give its command: "
        "lockstep doctor -- COMMAND";
    checks.push_back(check);
    return;
  }
  check.finding = fmt::format("Python {}: {}", python.version, python.interpreter.path);
  check.values = {{"path", python.interpreter.path}, {"version", python.version}};
  if (!situation.command.empty() && !python.interpreter.from_command) {
    check.finding += "; the command names no Python, so this is the first on PATH";
  }
  checks.push_back(check);

  if (python.isolated || python.ignores_environment || python.no_site) {
    checks.push_back(
        {"python.hook",
         {"pytorch"},
         State::missing,
         fmt::format("{} keeps Python from running a start-up hook", python.isolated  ? "-I"
                                                                     : python.no_site ? "-S"
                                                                                      : "-E"),
         "start the job without -I, -E and -S; what it makes of NVTX, CUDA and NCCL is recorded either way"});
  } else {
    Check hook{"python.hook", {"pytorch"}, State::ok, "a start-up hook will run"};
    const std::string& other = python.sitecustomize.empty() ? python.usercustomize : python.sitecustomize;
    if (!python.sitecustomize.empty()) {
      hook.finding = fmt::format("a start-up hook will run, and after it the one that is there: {}", other);
      hook.values["sitecustomize"] = python.sitecustomize;
    } else if (!python.usercustomize.empty()) {
      hook.finding = fmt::format("a start-up hook will run; {} stays what it is", other);
      hook.values["usercustomize"] = python.usercustomize;
    }
    if (situation.machine.set_variable("PYTHONNOUSERSITE").has_value()) {
      hook.values["PYTHONNOUSERSITE"] = "set";  // changes nothing: the hook comes by PYTHONPATH
    }
    checks.push_back(hook);
  }
}

void check_torch(const Situation& situation, Checks& checks) {
  const PythonFacts& python = situation.python;
  if (!python.problem.empty()) return;
  Check check{"pytorch.version", {"pytorch"}, State::ok, ""};
  if (python.torch_folder.empty()) {
    check.state = State::missing;
    check.finding = fmt::format("{} has no torch", python.interpreter.path);
    check.remedy =
        "none needed for other jobs; else activate the job's environment, or give its command: lockstep "
        "doctor -- COMMAND";
    checks.push_back(check);
    return;
  }
  const TorchVersion version = parse_torch_version(python.torch_version_file);
  check.values = {{"folder", python.torch_folder}, {"version", version.text}};
  if (!version.cuda.empty()) check.values["cuda"] = version.cuda;
  const std::string build = !version.cuda.empty()  ? "CUDA " + version.cuda
                            : !version.hip.empty() ? "ROCm " + version.hip
                                                   : "CPU only";
  check.finding =
      fmt::format("torch {} ({})", version.text.empty() ? "of unknown version" : version.text, build);
  const bool too_old = version.major < kOldestTorchMajor ||
                       (version.major == kOldestTorchMajor && version.minor < kOldestTorchMinor);
  if (version.text.empty()) {
    check.state = State::limited;
    check.finding += ": its version.py could not be understood";
  } else if (too_old) {
    check.state = State::missing;
    check.finding += ": the hook knows torch 2.4 and later";
    check.remedy = "upgrade torch, or export its own profiler's trace: lockstep analyze reads that";
  } else if (!version.hip.empty()) {
    check.state = State::limited;
    check.finding += ": steps, phases and collectives; no GPU kernels on ROCm";
  }
  checks.push_back(check);
}

}  // namespace lockstep::tracer::doctor

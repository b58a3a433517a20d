// The NVIDIA driver, who may profile, and NVML.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tracer/doctor/checks.h"
#include "tracer/doctor/versions.h"

namespace lockstep::tracer::doctor {

namespace {

const std::vector<std::string> kGpuSources{"cupti", "nccl", "nvml"};

struct Failure {
  int code;
  const char* meaning;
  const char* remedy;
};
// What cuInit says most often when it fails.
constexpr std::array kFailures{
    Failure{100, "no GPU is visible", "start the job where there is a GPU; in a container with --gpus all"},
    Failure{101, "CUDA_VISIBLE_DEVICES names a GPU that is not there", "correct CUDA_VISIBLE_DEVICES"},
    Failure{802, "the system is not ready: NVSwitch machines need their fabric manager",
            "start nvidia-fabricmanager, of the driver's version"},
    Failure{803, "libcuda and the kernel's driver are of different versions",
            "restart after the driver's update; in a container, take away its own libcuda.so.1"},
    Failure{804, "this GPU does not support CUDA's forward compatibility package",
            "take the compat folder out of LD_LIBRARY_PATH"},
    Failure{999, "unknown error, often a device file that may not be opened",
            "see whether /dev/nvidia* exist here and may be read and written by this user"},
};

Check failed_init(int code) {
  Check check{"gpu.driver", kGpuSources, State::missing, fmt::format("cuInit fails with error {}", code),
              "run nvidia-smi and see what it says"};
  for (const Failure& failure : kFailures) {
    if (failure.code != code) continue;
    check.finding += std::string(": ") + failure.meaning;
    check.remedy = failure.remedy;
  }
  return check;
}

}  // namespace

void check_driver(const Situation& situation, Checks& checks) {
  const Machine& machine = situation.machine;
  const std::string kernel = driver_version(machine.read("/proc/driver/nvidia/version").value_or(""));
  const LibraryFacts library = machine.load("libcuda.so.1", {{"cuDriverGetVersion", Call::Kind::fills_int},
                                                             {"cuInit", Call::Kind::takes_zero},
                                                             {"cuDeviceGetCount", Call::Kind::fills_int}});
  Check check{"gpu.driver", kGpuSources, State::ok, ""};
  if (!library.loads && kernel.empty()) {
    check.state = State::missing;
    check.finding = "no NVIDIA driver: neither its kernel module nor libcuda.so.1";
    check.remedy =
        "none needed for a job on CPUs; else install the driver, or start the container with --gpus all";
  } else if (!library.loads) {
    check.state = State::missing;
    check.finding =
        fmt::format("the kernel has driver {}, but libcuda.so.1 does not load: {}", kernel, library.problem);
    check.remedy =
        "in a container: start it with --gpus all (the NVIDIA container runtime brings the library)";
  } else if (library.results.size() == 3 && library.results[1].code != 0) {
    check = failed_init(library.results[1].code);
  } else if (library.results.size() == 3) {
    const CudaVersion cuda = cuda_version_of_driver(library.results[0].value);
    const int devices = library.results[2].value;
    check.finding = fmt::format("driver {}, for CUDA up to {}, {} visible", kernel.empty() ? "loads" : kernel,
                                cuda.text(), devices == 1 ? "1 GPU" : fmt::format("{} GPUs", devices));
    check.values["gpus"] = std::to_string(devices);
    check.values["cuda"] = cuda.text();
    if (devices == 0) {
      check.state = State::missing;
      check.remedy = "see CUDA_VISIBLE_DEVICES, and how the container or the batch job was given its GPUs";
    }
  }
  if (!kernel.empty()) check.values["driver"] = kernel;
  if (!library.path.empty()) check.values["libcuda"] = library.path;
  checks.push_back(check);
}

void check_profiling_permission(const Situation& situation, Checks& checks) {
  const std::optional<std::string> parameters = situation.machine.read("/proc/driver/nvidia/params");
  if (!parameters.has_value()) return;
  const std::string value = value_of_line(*parameters, "RmProfilingAdminOnly:");
  if (value.empty()) return;
  Check check{"gpu.permission", {"cupti"}, State::ok, "", "", {{"RmProfilingAdminOnly", value}}};
  if (value == "0") {
    check.finding = "every user may profile (NVreg_RestrictProfilingToAdminUsers=0)";
  } else if (situation.machine.is_root()) {
    check.finding =
        "only root may read performance counters, and this is root (in a container: with CAP_SYS_ADMIN)";
  } else {
    // Since CUDA 10.2 the restriction is on counters; records of activities are free to all.
    check.finding =
        "only root may read GPU performance counters (NVreg_RestrictProfilingToAdminUsers=1): tracing "
        "kernels and copies does not need them";
    check.remedy =
        "none, normally. If CUPTI reports insufficient privileges all the same: options nvidia "
        "NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d, or --cap-add SYS_ADMIN for the container";
  }
  checks.push_back(check);
}

void check_nvml(const Situation& situation, Checks& checks) {
  const LibraryFacts library = situation.machine.load(
      "libnvidia-ml.so.1", {{"nvmlInit_v2", Call::Kind::takes_zero}, {"nvmlDeviceGetCount_v2"}});
  Check check{"nvml.library", {"nvml"}, State::ok, ""};
  if (!library.loads) {
    check.state = State::missing;
    check.finding = "libnvidia-ml.so.1 does not load: " + library.problem;
    check.remedy = "it comes with the driver; a container needs NVIDIA_DRIVER_CAPABILITIES=compute,utility";
  } else if (library.results.size() != 2 || !library.results[0].found || library.results[0].code != 0) {
    check.state = State::missing;
    const int code = library.results.empty() ? -1 : library.results[0].code;
    check.finding = fmt::format("NVML does not start (error {})", code);
    check.remedy = code == 18 ? "the driver was updated under a running system: restart it"
                              : "run nvidia-smi and see what it says";
  } else {
    check.finding = fmt::format("NVML sees {}", library.results[1].value == 1
                                                    ? "1 GPU"
                                                    : fmt::format("{} GPUs", library.results[1].value));
    check.values["gpus"] = std::to_string(library.results[1].value);
  }
  if (!library.path.empty()) check.values["path"] = library.path;
  checks.push_back(check);
}

}  // namespace lockstep::tracer::doctor

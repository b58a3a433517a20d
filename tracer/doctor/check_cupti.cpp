// Which copies of CUPTI are here, of which version, and whether they get along with the driver and each
// other.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "tracer/doctor/checks.h"
#include "tracer/doctor/versions.h"

namespace lockstep::tracer::doctor {

namespace {

struct Copy {
  std::string path;  // the file
  std::string where;
  int api = 0;
};

// "libcupti.so.13", "libcupti.so.2025.3.1", and what torch's own wheels of some versions carry:
// "libcupti-86b9d1b9.so.12"
bool is_cupti_name(const std::string& name) {
  return (name.starts_with("libcupti.so.") || name.starts_with("libcupti-")) &&
         name.find(".so") != std::string::npos;
}

class Copies {
 public:
  explicit Copies(const Machine& machine) : machine_(machine) {}

  void try_library(const std::string& library, const std::string& where) {
    const LibraryFacts facts = machine_.load(library, {{"cuptiGetVersion"}});
    if (!facts.loads) {
      if (library.find('/') != std::string::npos) problem_ = library + ": " + facts.problem;
      return;
    }
    const std::string path = machine_.real_path(facts.path.empty() ? library : facts.path);
    const bool known =
        std::any_of(copies_.begin(), copies_.end(), [&](const Copy& copy) { return copy.path == path; });
    if (known || facts.results.empty() || !facts.results[0].found) return;
    copies_.push_back({path, where, facts.results[0].value});
  }
  void try_folder(const std::string& folder, const std::string& where) {
    std::string seen;
    for (const std::string& name : machine_.list(folder)) {
      if (!is_cupti_name(name)) continue;
      const std::string path = machine_.real_path(folder + "/" + name);
      if (path != seen) try_library(folder + "/" + name, where);
      seen = path;
    }
  }
  const std::vector<Copy>& all() const { return copies_; }
  const std::string& problem() const { return problem_; }

 private:
  const Machine& machine_;
  std::vector<Copy> copies_;
  std::string problem_;
};

Copies find_copies(const Situation& situation) {
  const Machine& machine = situation.machine;
  Copies copies(machine);
  if (const std::string& torch = situation.python.torch_folder; !torch.empty()) {
    copies.try_folder(torch + "/lib", "torch's own copy");
    const std::string packages = torch.substr(0, torch.rfind('/')) + "/nvidia";
    for (const std::string& name : machine.list(packages)) {
      copies.try_folder(packages + "/" + name + "/lib", "torch's own copy");
    }
  }
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so"}) {
    copies.try_library(name, "the loader's copy");
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto home = machine.set_variable(variable)) {
      copies.try_folder(*home + "/extras/CUPTI/lib64", std::string(variable) + "'s copy");
    }
  }
  copies.try_folder("/usr/local/cuda/extras/CUPTI/lib64", "the toolkit's copy");
  return copies;
}

std::string in_words(const Copy& copy) {
  return fmt::format("{} (CUPTI API {}, CUDA {}): {}", copy.where, copy.api,
                     cuda_version_of_cupti(copy.api).text(), copy.path);
}

// CUDA's major version that the driver supports; 0: not known.
CudaVersion driver_cuda(const Checks& checks) {
  for (const Check& check : checks) {
    const auto found = check.values.find("cuda");
    if (check.name != "gpu.driver" || found == check.values.end()) continue;
    CudaVersion version;
    if (std::sscanf(found->second.c_str(), "%d.%d", &version.major, &version.minor) == 2) return version;
  }
  return {};
}

}  // namespace

void check_cupti(const Situation& situation, Checks& checks) {
  const Copies found = find_copies(situation);
  const std::vector<Copy>& copies = found.all();
  Check check{"cupti.library", {"cupti"}, State::ok, ""};
  if (copies.empty()) {
    check.state = State::missing;
    check.finding = found.problem().empty() ? "libcupti is neither beside torch nor where the loader looks"
                                            : "libcupti does not load: " + found.problem();
    check.remedy =
        "pip install nvidia-cuda-cupti-cu12 (or nvidia-cuda-cupti for CUDA 13), or add the toolkit's "
        "extras/CUPTI/lib64 to LD_LIBRARY_PATH";
    checks.push_back(check);
    return;
  }
  // The first found is the one that a torch job has loaded already, and a SONAME is loaded once.
  const Copy& used = copies.front();
  const CudaVersion cuda = cuda_version_of_cupti(used.api);
  check.finding = in_words(used);
  check.values = {{"path", used.path}, {"api_version", std::to_string(used.api)}, {"cuda", cuda.text()}};
  const CudaVersion driver = driver_cuda(checks);
  if (driver.major != 0 && cuda.major > driver.major) {
    check.state = State::missing;
    check.finding = fmt::format("CUPTI is of CUDA {}, the driver goes up to CUDA {}: {}", cuda.text(),
                                driver.text(), used.path);
    check.remedy =
        fmt::format("a driver for CUDA {}, or a CUPTI and torch built for CUDA {}", cuda.major, driver.major);
  } else if (used.api == 130000) {
    check.state = State::limited;
    check.finding += "; 13.0 before its update 1 may crash when threads are named through NVTX";
    check.remedy = "upgrade to CUPTI of CUDA 13.0 update 1 or later";
  }
  checks.push_back(check);

  for (std::size_t i = 1; i < copies.size(); ++i) {
    const bool clash = cuda_version_of_cupti(copies[i].api).major != cuda.major;
    Check other{
        "cupti.other_copy",        {"cupti"}, State::note, "there is another one, " + in_words(copies[i]), "",
        {{"path", copies[i].path}}};
    if (clash && copies[i].where == "the loader's copy" && used.where == "torch's own copy") {
      other.state = State::limited;
      other.remedy =
          "two CUPTIs of different CUDA in one process disturb each other: take the folder out of "
          "LD_LIBRARY_PATH, or unload the module that brings it";
    }
    checks.push_back(other);
  }
}

}  // namespace lockstep::tracer::doctor

// NCCL: which version, whether it can hand its events to a plugin, and whether it is a library at all.
#include <fmt/format.h>

#include <algorithm>

#include "tracer/doctor/checks.h"
#include "tracer/doctor/versions.h"

namespace lockstep::tracer::doctor {

namespace {

constexpr NcclVersion kFirstWithPlugin{2, 23, 0};

bool needs(const ElfFacts& library, std::string_view name) {
  return std::any_of(library.needed.begin(), library.needed.end(),
                     [name](const std::string& needed) { return needed.starts_with(name); });
}

void judge_version(const NcclVersion& version, Check& check) {
  check.values["version"] = version.text();
  if (version >= kFirstWithPlugin) return;
  check.state = State::limited;
  check.finding += ": before 2.23 there is no profiler plugin, and of each call only its NVTX range and size";
  check.remedy = "NCCL 2.23 or later (a newer torch, or LD_PRELOAD of a newer libnccl.so.2)";
}

}  // namespace

void check_nccl(const Situation& situation, Checks& checks) {
  const Machine& machine = situation.machine;
  Check check{"nccl.library", {"nccl"}, State::ok, ""};
  const std::string& torch = situation.python.torch_folder;
  std::string library = "libnccl.so.2";
  bool of_torch = false;
  if (!torch.empty()) {
    const std::optional<ElfFacts> cuda_half = machine.inspect(torch + "/lib/libtorch_cuda.so");
    if (!cuda_half.has_value()) {
      check.state = State::missing;
      check.finding = "this torch is built without CUDA, and so without NCCL";
      check.remedy = "none needed for a job on Gloo; else install torch's CUDA build";
      checks.push_back(check);
      return;
    }
    check.values["static"] = needs(*cuda_half, "libnccl.so") ? "no" : "yes";
    if (!needs(*cuda_half, "libnccl.so")) {
      // The plugin is looked for by NCCL's code, wherever that stands: static linking does not keep it away.
      check.state = State::note;
      check.finding =
          "NCCL is linked into torch: its version can't be seen from outside, events come from 2.23 on all "
          "the same";
      check.remedy = "ask for it with python -c 'import torch; print(torch.cuda.nccl.version())'";
      checks.push_back(check);
      return;
    }
    for (const std::string& folder :
         {torch.substr(0, torch.rfind('/')) + "/nvidia/nccl/lib", torch + "/lib"}) {
      const std::vector<std::string> names = machine.list(folder);
      if (std::find(names.begin(), names.end(), "libnccl.so.2") == names.end()) continue;
      library = folder + "/libnccl.so.2";
      of_torch = true;
      break;
    }
  }
  const LibraryFacts facts = machine.load(library, {{"ncclGetVersion"}});
  if (!facts.loads || facts.results.empty() || !facts.results[0].found) {
    check.state = State::missing;
    check.finding = library + " does not load: " + facts.problem;
    check.remedy =
        "none needed for a job on Gloo; else pip install nvidia-nccl-cu12, or the system's libnccl2";
  } else {
    const NcclVersion version = nccl_version(facts.results[0].value);
    check.finding = fmt::format("NCCL {} ({}): {}", version.text(), of_torch ? "torch's own" : "the loader's",
                                facts.path.empty() ? library : facts.path);
    check.values["path"] = facts.path;
    judge_version(version, check);
  }
  checks.push_back(check);
}

}  // namespace lockstep::tracer::doctor

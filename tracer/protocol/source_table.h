// The table of sources of events: what --sources names, `doctor` judges and the manifest reports. A new
// source is one entry here, its folder in tracer/inject/sources/, and its line in tracer/inject/inject.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace lockstep::tracer {

struct SourceEntry {
  std::string_view name;     // in --sources, manifests and drops
  std::string_view records;  // what, in words
  bool by_default = true;    // recorded without --sources; else by --cpu alone
  // Why a run has nothing of it although it was asked for. Empty: the recorder looks at the machine to say.
  std::string_view absent_because = {};
};

// In the order in which people ask for them.
inline constexpr std::array<SourceEntry, 7> kSources{{
    {"nvtx", "ranges, marks and counters of every program that makes NVTX calls"},
    {"cupti", "GPU kernels, copies, synchronisation and the calls that launch them"},
    {"nccl", "collectives with group, sequence and size", true, "no process used NCCL"},
    {"pytorch", "steps, phases and collectives of unmodified PyTorch jobs", true,
     "no Python process trained with torch or made a process group, or none let the hook in"},
    {"scheduling",
     "when the threads that train run, sleep, and wait for a core, in every process that trains", true,
     "no process was seen to train"},
    {"cpu", "CPU time, run-queue delay, faults, switches and network of each process (--cpu)", false,
     "no process of the command was seen to train with PyTorch, make a process group, or use CUDA or NVTX"},
    {"nvml", "GPU clocks, power, temperature, throttling and errors (--cpu)", false,
     "no process of the command was seen to train with PyTorch, make a process group, or use CUDA or NVTX"},
}};

// nullptr: there is no such source.
constexpr const SourceEntry* find_source(std::string_view name) {
  const auto* const found = std::find_if(kSources.begin(), kSources.end(),
                                         [name](const SourceEntry& entry) { return entry.name == name; });
  return found == kSources.end() ? nullptr : found;
}

inline constexpr auto kSourceNames = [] {
  std::array<std::string_view, kSources.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kSources[i].name;
  return names;
}();

}  // namespace lockstep::tracer

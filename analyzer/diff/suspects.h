// What else differs between two runs: how they were started, where they ran. Such things stand beside the
// difference of their times as suspects: nothing here says that one is the cause.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// How a run was started and where it ran, as far as its input tells.
struct RunSettings {
  std::vector<std::string> command;           // empty: not known
  std::map<std::string, std::string> values;  // "hosts" → "2", "NCCL_ALGO" → "Ring"
};
RunSettings settings_of(const Job& job);

struct Suspect {
  std::string name;  // "--bucket-cap-mb", "OMP_NUM_THREADS", "hosts"
  std::string a, b;  // "" where it is absent
};

// Of two commands the flags and words that differ, then the values, by name.
std::vector<Suspect> suspects(const RunSettings& a, const RunSettings& b);

}  // namespace lockstep::analyzer

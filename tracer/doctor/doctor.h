// `lockstep doctor`: what can be recorded on this machine and in this environment, source by source, why the
// rest can't, and what to do about it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tracer/doctor/check.h"
#include "tracer/doctor/checks.h"

namespace lockstep::tracer::doctor {

struct Examination {
  std::string host;
  std::vector<std::string> command;
  std::string folder;
  std::vector<Check> checks;
  std::vector<SourceVerdict> sources;
  std::vector<std::string> required;  // sources that were asked for
  std::vector<std::string> unmet;     // those of them that are missing
};

// `progress` is called with what is about to be looked at.
Examination examine(Situation situation, const std::vector<std::string>& required,
                    const std::function<void(const std::string&)>& progress);

struct TextStyle {
  bool color = false;
};
std::string to_text(const Examination& examination, const TextStyle& style);
// lockstep.doctor/1, described in docs/doctor.md; indented, with a newline at its end.
std::string to_json(const Examination& examination);

}  // namespace lockstep::tracer::doctor

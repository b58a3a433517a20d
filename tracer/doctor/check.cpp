#include "tracer/doctor/check.h"

#include <algorithm>

#include "tracer/protocol/source_table.h"

namespace lockstep::tracer::doctor {

const char* to_string(State state) {
  switch (state) {
    case State::ok:
      return "ok";
    case State::note:
      return "note";
    case State::limited:
      return "limited";
    case State::missing:
      return "missing";
  }
  return "";
}

std::vector<SourceVerdict> judge(const std::vector<Check>& checks) {
  std::vector<SourceVerdict> verdicts;
  for (const SourceEntry& source : kSources) {
    SourceVerdict verdict{std::string(source.name), State::ok, std::string(source.records)};
    for (const Check& check : checks) {
      const bool concerns =
          std::find(check.sources.begin(), check.sources.end(), source.name) != check.sources.end();
      if (!concerns || check.state == State::note || check.state <= verdict.state) continue;
      verdict.state = check.state;
      verdict.reason = check.finding;
    }
    verdicts.push_back(verdict);
  }
  return verdicts;
}

}  // namespace lockstep::tracer::doctor

#include "tracer/doctor/doctor.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "tracer/doctor/nothing_recorded.h"
#include "tracer/protocol/environment.h"

namespace lockstep::tracer::doctor {

namespace {

struct Step {
  const char* what;
  void (*check)(const Situation&, Checks&);
};
constexpr std::array kSteps{
#define LOCKSTEP_CHECK(what, name) Step{what, check_##name},
#include "tracer/doctor/checks.def"
};

}  // namespace

Examination examine(Situation situation, const std::vector<std::string>& required,
                    const std::function<void(const std::string&)>& progress) {
  // Of a job that runs elsewhere this machine's Python says nothing.
  const std::optional<Obstacle> obstacle = find_obstacle(situation.machine, situation.command);
  const bool elsewhere = obstacle.has_value() && obstacle->elsewhere;
  if (!elsewhere) {
    progress("asking Python");
    situation.python = ask_python(situation.machine, situation.command);
  }
  Examination result;
  result.host = host_name();
  for (const Step& step : kSteps) {
    if (elsewhere && (step.check == check_python || step.check == check_torch)) continue;
    progress(std::string("looking at ") + step.what);
    step.check(situation, result.checks);
  }
  result.sources = judge(result.checks);
  result.required = required;
  for (const SourceVerdict& source : result.sources) {
    const bool asked = std::find(required.begin(), required.end(), source.name) != required.end();
    if (asked && source.state == State::missing) result.unmet.push_back(source.name);
  }
  result.command = std::move(situation.command);
  result.folder = std::move(situation.folder);
  return result;
}

}  // namespace lockstep::tracer::doctor

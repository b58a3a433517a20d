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
// The driver comes before those that compare themselves with it.
constexpr std::array kSteps{
    Step{"the installation", check_installation},
    Step{"the command", check_command},
    Step{"other tools", check_other_tools},
    Step{"the GPU driver", check_driver},
    Step{"the GPU driver", check_profiling_permission},
    Step{"CUPTI", check_cupti},
    Step{"NCCL", check_nccl},
    Step{"Python", check_python},
    Step{"PyTorch", check_torch},
    Step{"threads", check_scheduling},
    Step{"the host's counters", check_host_counters},
    Step{"NVML", check_nvml},
    Step{"the clock", check_clock},
    Step{"the disk", check_disk},
    Step{"limits", check_limits},
    Step{"isolation", check_isolation},
    Step{"the job", check_ranks},
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

#include "tracer/doctor/check.h"

#include <algorithm>

namespace lockstep::tracer::doctor {

namespace {

const char* what_it_records(std::string_view source) {
  if (source == "nvtx") return "ranges, marks and counters of every program that makes NVTX calls";
  if (source == "cupti") return "GPU kernels, copies, synchronisation and the calls that launch them";
  if (source == "nccl") return "collectives with group, sequence and size";
  if (source == "pytorch") return "steps, phases and collectives of unmodified PyTorch jobs";
  if (source == "scheduling")
    return "when the threads that train run, sleep, and wait for a core, in every process that trains";
  if (source == "cpu")
    return "CPU time, run-queue delay, faults, switches and network of each process (--cpu)";
  return "GPU clocks, power, temperature, throttling and errors (--cpu)";
}

}  // namespace

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

bool is_source(std::string_view name) {
  return std::any_of(std::begin(kSources), std::end(kSources),
                     [name](std::string_view known) { return known == name; });
}

std::vector<SourceVerdict> judge(const std::vector<Check>& checks) {
  std::vector<SourceVerdict> verdicts;
  for (const char* source : kSources) {
    SourceVerdict verdict{source, State::ok, what_it_records(source)};
    for (const Check& check : checks) {
      const bool concerns =
          std::find(check.sources.begin(), check.sources.end(), source) != check.sources.end();
      if (!concerns || check.state == State::note || check.state <= verdict.state) continue;
      verdict.state = check.state;
      verdict.reason = check.finding;
    }
    verdicts.push_back(verdict);
  }
  return verdicts;
}

}  // namespace lockstep::tracer::doctor

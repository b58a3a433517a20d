// Whether our own files are whole, and the command one that can be recorded.
#include <fmt/format.h>

#include "tracer/doctor/checks.h"
#include "tracer/doctor/nothing_recorded.h"
#include "tracer/protocol/source_table.h"

namespace lockstep::tracer::doctor {

namespace {

const std::vector<std::string> kInProcess{kSourceNames.begin(), kSourceNames.end()};

}  // namespace

void check_installation(const Situation& situation, Checks& checks) {
  Check check{"installation.library", kInProcess, State::ok, ""};
  const Result<std::string>& library = situation.injection;
  if (!library.ok()) {
    check.state = State::missing;
    check.finding = library.error().message;
    check.remedy = "install again, with lib/liblockstep-inject.so beside bin/lockstep";
    checks.push_back(check);
    return;
  }
  check.values["path"] = library.value();
  // Where nothing is to be recorded this call does nothing: it shows that the library is ours.
  const LibraryFacts facts =
      situation.machine.load(library.value(), {{"InitializeInjectionNvtx2", Call::Kind::takes_zero}});
  const bool is_ours = !facts.results.empty() && facts.results[0].found;
  if (facts.loads && is_ours) {
    check.finding = library.value() + " loads";
  } else if (facts.loads) {
    check.state = State::missing;
    check.finding = library.value() + " is not Lockstep's: it lacks NVTX's entry point";
    check.remedy = "install again";
  } else {
    check.state = State::missing;
    check.finding = fmt::format("{} does not load: {}", library.value(), facts.problem);
    check.remedy = "install the Lockstep that was built for this system's C library and processor";
  }
  checks.push_back(check);
}

void check_command(const Situation& situation, Checks& checks) {
  if (situation.command.empty()) return;
  Check check{"command.recordable", kInProcess, State::ok, ""};
  const std::string& word = situation.command.front();
  const std::string path = situation.machine.find_command(word);
  if (path.empty()) {
    check.state = State::missing;
    check.finding = fmt::format("'{}' is not on PATH, or not executable", word);
    check.remedy = "check its spelling, or give its path";
    checks.push_back(check);
    return;
  }
  check.values["path"] = path;
  check.finding = path + " passes its environment on";
  if (const std::optional<Obstacle> obstacle = find_obstacle(situation.machine, situation.command)) {
    check.state = obstacle->certain ? State::missing : State::limited;
    check.finding = obstacle->reason;
    check.remedy = obstacle->remedy;
  }
  checks.push_back(check);
}

}  // namespace lockstep::tracer::doctor

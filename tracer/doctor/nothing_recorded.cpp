#include "tracer/doctor/nothing_recorded.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tracer/doctor/local_machine.h"
#include "tracer/doctor/python.h"

namespace lockstep::tracer::doctor {

namespace {

struct Wrapper {
  const char* name;
  const char* reason;
  const char* remedy;
  bool elsewhere = true;
};

// Programs that start the job elsewhere, or with another environment than ours.
constexpr std::array kWrappers{
    Wrapper{"ssh", "ssh starts the job on another host, without this environment",
            "run lockstep record on that host: ssh HOST lockstep record -o RUN -- COMMAND"},
    Wrapper{"sbatch", "sbatch queues the job and returns at once",
            "put lockstep record into the batch script: srun lockstep record -o RUN -- COMMAND"},
    Wrapper{"qsub", "qsub queues the job and returns at once",
            "put lockstep record into the batch script, in front of the training command"},
    Wrapper{"docker", "the job runs in a container, which gets neither this environment nor our library",
            "run lockstep record inside of the container, with its bin and lib mounted or copied in"},
    Wrapper{"podman", "the job runs in a container, which gets neither this environment nor our library",
            "run lockstep record inside of the container, with its bin and lib mounted or copied in"},
    Wrapper{"kubectl", "the job runs in a pod, which gets neither this environment nor our library",
            "make lockstep record the first words of the pod's command"},
    Wrapper{"sudo", "sudo clears the environment through which the job is recorded",
            "put lockstep record behind it: sudo lockstep record -o RUN -- COMMAND", false},
    Wrapper{"su", "su starts a shell with another environment",
            "run lockstep record as that user: su USER -c 'lockstep record -o RUN -- COMMAND'", false},
};

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::optional<Obstacle> find_wrapper(const std::vector<std::string>& command) {
  const std::string first = base_name(command.front());
  for (const Wrapper& wrapper : kWrappers) {
    if (first == wrapper.name) return Obstacle{wrapper.reason, wrapper.remedy, true, wrapper.elsewhere};
  }
  const auto has = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(command.begin() + 1, command.end(), [&](const std::string& word) {
      return std::find(words.begin(), words.end(), word) != words.end();
    });
  };
  const auto behind = [&](std::initializer_list<std::string_view> words) {
    const auto dashes = std::find_if(command.begin() + 1, command.end(),
                                     [](const std::string& word) { return !word.starts_with('-'); });
    return std::any_of(command.begin() + 1, dashes, [&](const std::string& word) {
      return std::find(words.begin(), words.end(), word) != words.end();
    });
  };
  if (first == "env" && behind({"-i", "--ignore-environment", "-"})) {
    return Obstacle{"env -i clears the environment through which the job is recorded",
                    "put lockstep record behind it: env -i … lockstep record -o RUN -- COMMAND", true};
  }
  if (first == "srun" && has({"--export=NONE", "--export=NIL"})) {
    return Obstacle{"srun --export=NONE clears the environment through which the job is recorded",
                    "put lockstep record behind srun: srun … lockstep record -o RUN -- COMMAND", true};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Obstacle> find_obstacle(const Machine& machine, const std::vector<std::string>& command) {
  if (command.empty()) return std::nullopt;
  if (std::optional<Obstacle> wrapper = find_wrapper(command)) return wrapper;
  const std::string path = machine.find_command(command.front());
  if (path.empty()) return std::nullopt;
  const std::optional<ElfFacts> elf = machine.inspect(path);
  if (elf.has_value() && (elf->is_32_bit || !is_of_this_processor(*elf))) {
    return Obstacle{fmt::format("{} is {}: Lockstep's library is not", path,
                                elf->is_32_bit ? "a 32-bit program" : "built for another processor"),
                    "build it for this machine; what it starts in turn is recorded all the same", false};
  }
  if (elf.has_value() && !other_libc(*elf).empty()) {
    return Obstacle{
        fmt::format("{}: {}", path, why_not_entered(*elf)),
        "use a build with glibc (python:3-slim, not python:3-alpine); what it starts in turn is recorded all "
        "the same",
        false};
  }
  if (elf.has_value() && elf->is_executable && !elf->has_interpreter) {
    return Obstacle{path + " is statically linked: no library can be brought into it",
                    "link it dynamically; what it starts in turn is recorded all the same", false};
  }
  return std::nullopt;
}

std::vector<std::string> explain_nothing_recorded(const Machine& machine,
                                                  const std::vector<std::string>& command) {
  if (const std::optional<Obstacle> obstacle = find_obstacle(machine, command)) {
    return {obstacle->reason, fmt::format("try this: {}", obstacle->remedy)};
  }
  const Interpreter python = find_interpreter(machine, command);
  const auto has = [&](const char* flag) {
    return std::find(python.flags.begin(), python.flags.end(), flag) != python.flags.end();
  };
  if (python.from_command && (has("-I") || has("-E") || has("-S"))) {
    return {
        fmt::format("{} runs with -I, -E or -S, and so without the start-up hook by which Python jobs are "
                    "recorded",
                    python.path),
        "try it without that flag; ranges that the job makes through NVTX itself are recorded either way"};
  }
  return {};
}

std::vector<std::string> explain_nothing_recorded(const std::vector<std::string>& command) {
  return explain_nothing_recorded(LocalMachine(), command);
}

}  // namespace lockstep::tracer::doctor

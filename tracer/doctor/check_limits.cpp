// What a container, a batch system or a shell lets the job have.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tracer/doctor/cgroup.h"
#include "tracer/doctor/checks.h"
#include "tracer/doctor/versions.h"

namespace lockstep::tracer::doctor {

namespace {

constexpr std::uint64_t kSmallSharedMemory = std::uint64_t{1} << 30U;
constexpr double kThrottledOften = 0.05;
constexpr std::uint64_t kTasksOfOurs = 4;  // threads that recording adds to a process, at most

void check_processor_limit(const Situation& situation, const CgroupLimits& limits, Checks& checks) {
  Check check{"limits.cpu", {}, State::ok, "", "", {}};
  const std::uint32_t processors = situation.machine.processors();
  check.values["processors"] = std::to_string(processors);
  check.finding = fmt::format("{} processors, no quota", processors);
  if (limits.processors.has_value()) {
    check.values["quota"] = fmt::format("{:.2f}", *limits.processors);
    check.finding =
        fmt::format("{} processors, of which a quota allows {:.1f}", processors, *limits.processors);
    const double throttled =
        limits.periods > 0 ? static_cast<double>(limits.throttled) / static_cast<double>(limits.periods) : 0;
    check.values["throttled_share"] = fmt::format("{:.3f}", throttled);
    if (throttled > kThrottledOften) {
      check.state = State::limited;
      check.finding +=
          fmt::format("; in {:.0f} % of the periods so far it stopped everything here", throttled * 100);
      check.remedy =
          "a larger CPU limit (Kubernetes: resources.limits.cpu), or none: such stops make stragglers";
    }
  }
  checks.push_back(check);
}

void check_memory_limit(const CgroupLimits& limits, Checks& checks) {
  Check check{"limits.memory", {}, State::ok, "no memory limit by a control group", "", {}};
  if (limits.memory.has_value()) {
    check.values["limit_bytes"] = std::to_string(*limits.memory);
    check.values["used_bytes"] = std::to_string(limits.memory_used);
    const auto gigabytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 1e9; };
    check.finding =
        fmt::format("{:.1f} of {:.1f} GB used", gigabytes(limits.memory_used), gigabytes(*limits.memory));
    if (limits.memory_used > *limits.memory / 10 * 9) {
      check.state = State::limited;
      check.finding += ": recording takes up to 128 MB a rank, and the limit kills";
      check.remedy = "a larger memory limit, or a smaller --buffer-size";
    }
  }
  checks.push_back(check);
}

void check_task_limit(const CgroupLimits& limits, Checks& checks) {
  if (!limits.tasks.has_value()) return;
  Check check{"limits.tasks",
              {},
              State::ok,
              fmt::format("{} of {} tasks", limits.tasks_used, *limits.tasks),
              "",
              {{"limit", std::to_string(*limits.tasks)}, {"used", std::to_string(limits.tasks_used)}}};
  if (limits.tasks_used + 16 * kTasksOfOurs > *limits.tasks) {
    check.state = State::limited;
    check.finding += ": a process that gets no thread for the tracer is not recorded";
    check.remedy = "a larger limit (docker run --pids-limit, systemd TasksMax)";
  }
  checks.push_back(check);
}

void check_shared_memory(const Situation& situation, Checks& checks) {
  const std::optional<FileSystemFacts> facts = situation.machine.file_system("/dev/shm");
  if (!facts.has_value()) return;
  Check check{"limits.shared_memory",
              {},
              State::ok,
              fmt::format("/dev/shm has {:.1f} GB", static_cast<double>(facts->total_bytes) / 1e9),
              "",
              {{"bytes", std::to_string(facts->total_bytes)}}};
  if (facts->total_bytes < kSmallSharedMemory) {
    check.state = State::limited;
    check.finding = fmt::format("/dev/shm has {:.0f} MB: little for data loaders and NCCL",
                                static_cast<double>(facts->total_bytes) / 1e6);
    check.remedy =
        "docker run --shm-size 16g, or an emptyDir with medium Memory at /dev/shm; recording does not use it";
  }
  checks.push_back(check);
}

void check_file_size(const Situation& situation, Checks& checks) {
  const std::string line =
      value_of_line(situation.machine.read("/proc/self/limits").value_or(""), "Max file size");
  if (line.empty() || line.starts_with("unlimited")) return;
  checks.push_back(
      {"limits.file_size",
       {},
       State::limited,
       fmt::format("files may have {} bytes at most (ulimit -f): a trace ends there, the job goes on",
                   line.substr(0, line.find(' '))),
       "ulimit -f unlimited"});
}

}  // namespace

void check_limits(const Situation& situation, Checks& checks) {
  const CgroupLimits limits = read_cgroup_limits(situation.machine);
  check_processor_limit(situation, limits, checks);
  check_memory_limit(limits, checks);
  check_task_limit(limits, checks);
  check_shared_memory(situation, checks);
  check_file_size(situation, checks);
}

}  // namespace lockstep::tracer::doctor

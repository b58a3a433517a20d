#include "tracer/doctor/cgroup.h"

#include <algorithm>

#include "base/numbers.h"
#include "tracer/doctor/versions.h"

namespace lockstep::tracer::doctor {

namespace {

// Version 1 writes "no limit" as a number of about 2^63.
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 60U;

std::optional<std::uint64_t> number(std::string_view text) {
  return parse_number<std::uint64_t>(text.substr(0, text.find('\n')));
}

std::optional<std::uint64_t> read_number(const Machine& machine, const std::string& path) {
  const std::optional<std::string> text = machine.read(path);
  return text.has_value() ? number(*text) : std::nullopt;
}

bool holds(std::string_view list, std::string_view name) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.size(), list.find(',', begin));
    if (list.substr(begin, end - begin) == name) return true;
    begin = end + 1;
  }
  return false;
}

// Calls `look` with the folder of the group and of every group above it.
template <class Look>
void for_each_level(const std::string& root, std::string path, const Look& look) {
  while (true) {
    while (!path.empty() && path.back() == '/') path.pop_back();
    look(root + path);
    if (path.empty()) return;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

void take_processors(const std::optional<double>& quota, const std::string& statistics,
                     CgroupLimits& limits) {
  if (!quota.has_value() || (limits.processors.has_value() && *limits.processors <= *quota)) return;
  limits.processors = quota;
  limits.periods = number(value_of_line(statistics, "nr_periods")).value_or(0);
  limits.throttled = number(value_of_line(statistics, "nr_throttled")).value_or(0);
}

void take(const std::optional<std::uint64_t>& limit, const std::optional<std::uint64_t>& used,
          std::optional<std::uint64_t>& tightest, std::uint64_t& used_there) {
  if (!limit.has_value() || *limit >= kNoLimit || (tightest.has_value() && *tightest <= *limit)) return;
  tightest = limit;
  used_there = used.value_or(0);
}

void read_version_2(const Machine& machine, const std::string& folder, CgroupLimits& limits) {
  if (const auto quota = machine.read(folder + "/cpu.max")) {
    take_processors(parse_cpu_max(*quota), machine.read(folder + "/cpu.stat").value_or(""), limits);
  }
  take(read_number(machine, folder + "/memory.max"), read_number(machine, folder + "/memory.current"),
       limits.memory, limits.memory_used);
  take(read_number(machine, folder + "/pids.max"), read_number(machine, folder + "/pids.current"),
       limits.tasks, limits.tasks_used);
}

std::optional<double> quota_of_version_1(const Machine& machine, const std::string& folder) {
  const auto quota = read_number(machine, folder + "/cpu.cfs_quota_us");  // -1: none, which is no number here
  const auto period = read_number(machine, folder + "/cpu.cfs_period_us");
  if (!quota.has_value() || !period.has_value() || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

void read_version_1(const Machine& machine, const std::string& groups, CgroupLimits& limits) {
  if (const auto path = cgroup_path(groups, "cpu")) {
    for_each_level("/sys/fs/cgroup/cpu", *path, [&](const std::string& folder) {
      take_processors(quota_of_version_1(machine, folder), machine.read(folder + "/cpu.stat").value_or(""),
                      limits);
    });
  }
  if (const auto path = cgroup_path(groups, "memory")) {
    for_each_level("/sys/fs/cgroup/memory", *path, [&](const std::string& folder) {
      take(read_number(machine, folder + "/memory.limit_in_bytes"),
           read_number(machine, folder + "/memory.usage_in_bytes"), limits.memory, limits.memory_used);
    });
  }
  if (const auto path = cgroup_path(groups, "pids")) {
    for_each_level("/sys/fs/cgroup/pids", *path, [&](const std::string& folder) {
      take(read_number(machine, folder + "/pids.max"), read_number(machine, folder + "/pids.current"),
           limits.tasks, limits.tasks_used);
    });
  }
}

}  // namespace

std::optional<std::string> cgroup_path(std::string_view text, std::string_view controller) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.size(), text.find('\n', begin));
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (controllers == controller || (!controller.empty() && holds(controllers, controller))) {
      return std::string(line.substr(second + 1));
    }
  }
  return std::nullopt;
}

std::optional<double> parse_cpu_max(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto quota = number(text.substr(0, blank));
  const auto period = number(text.substr(blank + 1));
  if (!quota.has_value() || !period.has_value() || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

CgroupLimits read_cgroup_limits(const Machine& machine) {
  CgroupLimits limits;
  const std::string groups = machine.read("/proc/self/cgroup").value_or("");
  if (const auto path = cgroup_path(groups, "")) {
    for_each_level("/sys/fs/cgroup", *path,
                   [&](const std::string& folder) { read_version_2(machine, folder, limits); });
  }
  read_version_1(machine, groups, limits);
  return limits;
}

}  // namespace lockstep::tracer::doctor

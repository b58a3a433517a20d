#include "tracer/inject/sources/scheduling/allowed_cores.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "tracer/inject/core/own_file.h"
#include "tracer/inject/sources/host/proc_text.h"

namespace lockstep::tracer::scheduling {

namespace {

constexpr std::size_t kMaxCores = 8192;
constexpr const char* kCgroups = "/sys/fs/cgroup";

// The tightest of the group's own quota and of those above it.
double read_quota() {
  const std::string lines = read_own_file(std::string("/proc/self/cgroup"));
  std::string path(cgroup_path(lines));
  double least = 0;
  while (true) {
    const double quota = parse_cpu_max(read_own_file(kCgroups + path + "/cpu.max"));
    if (quota > 0) least = least > 0 ? std::min(least, quota) : quota;
    const std::size_t slash = path.rfind('/');
    if (path.size() < 2 || slash == std::string::npos) break;
    path.resize(slash);
  }
  return least;
}

}  // namespace

std::string text_of_mask(std::string_view mask, std::uint32_t& count) {
  const auto allowed = [&](std::size_t core) {
    return core < mask.size() * 8 && (static_cast<unsigned char>(mask[core / 8]) >> (core % 8) & 1U) != 0;
  };
  std::string text;
  count = 0;
  for (std::size_t core = 0; core < mask.size() * 8; ++core) {
    if (!allowed(core)) continue;
    const std::size_t first = core;
    while (allowed(core + 1)) ++core;
    count += static_cast<std::uint32_t>(core - first + 1);
    if (!text.empty()) text += ',';
    text += std::to_string(first);
    if (core != first) text += '-' + std::to_string(core);
  }
  return text;
}

double parse_cpu_max(std::string_view text) {
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return 0;
  const host::Amount quota = host::parse_number(text.substr(0, blank));
  const host::Amount period = host::parse_number(text.substr(blank + 1));
  if (!quota.has_value() || !period.has_value() || *period == 0) return 0;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::string_view cgroup_path(std::string_view lines) {
  constexpr std::string_view kUnified = "0::";
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.size(), lines.find('\n'));
    const std::string_view line = lines.substr(0, end);
    if (line.starts_with(kUnified)) return line.substr(kUnified.size());
    lines.remove_prefix(std::min(lines.size(), end + 1));
  }
  return {};
}

AllowedCores read_allowed_cores(std::uint32_t thread) {
  AllowedCores cores;
  std::array<char, kMaxCores / 8> mask{};
  const long bytes = syscall(SYS_sched_getaffinity, static_cast<pid_t>(thread), mask.size(), mask.data());
  if (bytes > 0) {
    cores.set = text_of_mask(std::string_view(mask.data(), static_cast<std::size_t>(bytes)), cores.count);
  }
  cores.quota = read_quota();
  return cores;
}

}  // namespace lockstep::tracer::scheduling

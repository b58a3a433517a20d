// Clocks, the kernel's counters, and what a container or the administrator forbids.
#include <fmt/format.h>

#include <algorithm>

#include "tracer/doctor/checks.h"
#include "tracer/doctor/versions.h"
#include "tracer/protocol/clock.h"

namespace lockstep::tracer::doctor {

namespace {

std::string first_line(const std::optional<std::string>& text) {
  return text.has_value() ? text->substr(0, text->find('\n')) : std::string();
}

bool has_word(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const bool begins = at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t';
    const std::size_t end = at + word.size();
    if (begins && (end == line.size() || line[end] == ' ' || line[end] == '\n')) return true;
  }
  return false;
}

}  // namespace

void check_clock(const Situation& situation, Checks& checks) {
  const Machine& machine = situation.machine;
  const std::string source =
      first_line(machine.read("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
  const std::string flags = value_of_line(machine.read("/proc/cpuinfo").value_or(""), "flags");
  const bool invariant = has_word(flags, "constant_tsc") && has_word(flags, "nonstop_tsc");
  const TickSource ticks = choose_tick_source(invariant, source.empty() ? nullptr : source.c_str());
  Check check{
      "clock.source",
      {},
      State::ok,
      "",
      "",
      {{"clocksource", source}, {"invariant_tsc", invariant ? "yes" : "no"}, {"ticks", to_string(ticks)}}};
  const std::string kernel = source.empty() ? "unknown" : source;
  if (ticks == TickSource::tsc) {
    check.finding =
        fmt::format("the processor's time-stamp counter, invariant; the kernel's clock source is {}", kernel);
  } else if (source == "tsc" || source == "kvm-clock" || source == "hyperv_clocksource_tsc_page" ||
             source == "arch_sys_counter") {
    check.finding = fmt::format("CLOCK_MONOTONIC (clock source {}): an event costs some 20 ns more", kernel);
  } else {
    check.state = State::limited;
    check.finding = fmt::format(
        "the kernel's clock source is {}: reading the time is a system call, about 1 µs an event", kernel);
    check.remedy =
        "tsc as clock source (kernel parameter tsc=reliable, if the machine's counters are in step)";
  }
  checks.push_back(check);
}

void check_host_counters(const Situation& situation, Checks& checks) {
  const Machine& machine = situation.machine;
  Check check{"cpu.counters",
              {"cpu"},
              State::ok,
              "CPU time, faults, context switches and run-queue delay from /proc"};
  if (!machine.read("/proc/self/stat").has_value()) {
    check.state = State::missing;
    check.finding = "/proc is not mounted: no counters of processes";
    check.remedy = "mount /proc in the container";
  } else if (!machine.read("/proc/self/schedstat").has_value()) {
    check.state = State::limited;
    check.finding = "no /proc/self/schedstat: how long threads wait for a processor can't be told";
    check.remedy = "a kernel with CONFIG_SCHED_INFO";
  }
  check.values["pressure"] = machine.read("/proc/pressure/cpu").has_value() ? "yes" : "no";
  const std::string paranoid = first_line(machine.read("/proc/sys/kernel/perf_event_paranoid"));
  // Said because people look for it: nothing here depends on it.
  if (!paranoid.empty()) check.values["perf_event_paranoid"] = paranoid;
  checks.push_back(check);

  std::string interfaces;
  for (const std::string& name : machine.list("/sys/class/net")) {
    if (name != "lo") interfaces += (interfaces.empty() ? "" : ", ") + name;
  }
  std::string fabric;
  for (const std::string& name : machine.list("/sys/class/infiniband")) {
    fabric += (fabric.empty() ? "" : ", ") + name;
  }
  Check network{"cpu.network",
                {},
                State::note,
                fmt::format("network counters of {}", interfaces.empty() ? "no interface" : interfaces)};
  if (!fabric.empty()) network.finding += fmt::format("; of InfiniBand or RoCE: {}", fabric);
  network.values = {{"interfaces", interfaces}, {"infiniband", fabric}};
  checks.push_back(network);
}

void check_isolation(const Situation& situation, Checks& checks) {
  const Machine& machine = situation.machine;
  const std::string status = machine.read("/proc/self/status").value_or("");
  const std::string seccomp = value_of_line(status, "Seccomp:");
  const std::string scope = first_line(machine.read("/proc/sys/kernel/yama/ptrace_scope"));
  Check check{"host.isolation", {}, State::note, "", "", {}};
  check.values = {{"seccomp", seccomp}, {"ptrace_scope", scope}};
  const std::string filter =
      seccomp == "2" ? "a seccomp filter is on; recording makes no unusual system call" : "no seccomp filter";
  if (scope == "2" || scope == "3") {
    check.state = State::limited;
    check.finding =
        fmt::format("kernel.yama.ptrace_scope is {}: no debugger can show the stacks of a job that hangs; {}",
                    scope, filter);
    check.remedy =
        "kernel.yama.ptrace_scope=1 or 0, if you want stacks of a hang; recording does not need it";
  } else {
    check.finding = fmt::format("stacks of a hanging job can be had (ptrace_scope {}); {}",
                                scope.empty() ? "not set" : scope, filter);
  }
  checks.push_back(check);
}

}  // namespace lockstep::tracer::doctor

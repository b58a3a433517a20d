#include "cli/recording/record_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "tracer/protocol/plan.h"
#include "tracer/protocol/source_table.h"

namespace lockstep::cli {
namespace {

namespace control = tracer::control;

// Half of the time after which NCCL ends a job that hangs, and there is nothing left to look at.
constexpr std::int64_t kHangTimeout = 300'000'000'000;
constexpr double kLooksPerSecond = 20, kMaxLooksPerSecond = 200;
constexpr std::uint64_t kMegabyte = 1'000'000;
constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;
constexpr std::uint64_t kLeastBuffer = std::uint64_t{64} << 10U;
constexpr std::uint64_t kMaxBuffer = std::uint64_t{64} << 30U;

// What was asked for, by a flag or else by its variable.
struct Given {
  std::string name;  // "--steps 5:3" or "LOCKSTEP_STEPS=5:3": how errors begin
  std::string value;
  bool by_flag = true;
};

class Asking {
 public:
  Asking(const CLI::App& app, const std::function<const char*(const char*)>& lookup)
      : app_(app), lookup_(lookup) {}
  std::optional<Given> get(const char* flag, const std::string& text, const char* variable_name) const {
    if (app_.count(flag) != 0) return Given{fmt::format("{} {}", flag, text), text, true};
    return variable(variable_name);
  }
  std::optional<Given> variable(const char* variable) const {
    const char* const value = lookup_(variable);
    if (value == nullptr || value[0] == '\0') return std::nullopt;
    return Given{fmt::format("{}={}", variable, value), value, false};
  }

 private:
  const CLI::App& app_;
  const std::function<const char*(const char*)>& lookup_;
};

Status wrong(const Given& given, std::string_view allowed) {
  return Error{fmt::format("{}: {}", given.name, allowed)};
}

// A time greater than none.
Status read_time(const Given& given, std::int64_t& time) {
  const std::optional<std::int64_t> value = control::parse_duration(given.value);
  if (!value.has_value() || *value == 0)
    return wrong(given, "give a time above 0, as in 30, 30s, 500ms, 2.5m or 1h");
  time = *value;
  return {};
}

// A bare number counts in `unit` after the flag, and in bytes in the variable.
Status read_size(const Given& given, std::uint64_t unit, std::string_view of_unit, std::uint64_t least,
                 std::uint64_t most, std::string_view range, std::uint64_t& bytes) {
  const std::optional<std::uint64_t> value = control::parse_size(given.value, given.by_flag ? unit : 1);
  if (!value.has_value() || *value < least || *value > most)
    return wrong(given, fmt::format("give a size{}, as in 512MB, 1.5GB or 64MiB; a number alone is in {}",
                                    range, given.by_flag ? of_unit : "bytes"));
  bytes = *value;
  return {};
}

Status read_times(const PlanArguments& arguments, const Asking& asking, control::Plan& plan) {
  struct Time {
    const char* flag;
    const std::string& text;
    const char* variable;
    std::int64_t& time;
  };
  for (const Time& time : {Time{"--delay", arguments.delay, "LOCKSTEP_DELAY", plan.delay_ns},
                           Time{"--duration", arguments.duration, "LOCKSTEP_DURATION", plan.duration_ns},
                           Time{"--ring", arguments.ring, "LOCKSTEP_RING", plan.ring_ns}}) {
    const std::optional<Given> given = asking.get(time.flag, time.text, time.variable);
    if (!given.has_value()) continue;
    if (Status status = read_time(*given, time.time); !status.ok()) return status;
  }
  const auto factor = asking.get("--ring-factor", arguments.ring_factor, "LOCKSTEP_RING_FACTOR");
  if (!factor.has_value()) return {};
  if (plan.ring_ns == 0) return factor->by_flag ? wrong(*factor, "means nothing without --ring") : Status{};
  const std::optional<double> value = control::parse_factor(factor->value);
  if (!value.has_value())
    return wrong(*factor, "give a number above 1, as in 2: a step that takes twice the median");
  plan.ring_factor = *value;
  return {};
}

Status read_hang_timeout(const PlanArguments& arguments, const Asking& asking,
                         tracer::record::Options& options) {
  options.plan.hang_timeout_ns = kHangTimeout;
  const std::optional<Given> given =
      asking.get("--hang-timeout", arguments.hang_timeout, "LOCKSTEP_HANG_TIMEOUT");
  if (!given.has_value()) return {};
  options.plan.hang_timeout_ns = 0;
  if (given->value == "off") return {};
  options.hang_timeout_is_asked_for = true;
  if (!read_time(*given, options.plan.hang_timeout_ns).ok())
    return wrong(*given, "give a time above 0, as in 30, 30s, 500ms, 2.5m or 1h, or off");
  return {};
}

Status read_sizes(const PlanArguments& arguments, const Asking& asking, tracer::record::Options& options) {
  if (const auto given = asking.get("--max-size", arguments.max_size, "LOCKSTEP_MAX_SIZE")) {
    if (Status status =
            read_size(*given, kMegabyte, "megabytes", 1, UINT64_MAX, " above 0", options.plan.max_bytes);
        !status.ok())
      return status;
  }
  if (const auto given = asking.get("--buffer-size", arguments.buffer_size, "LOCKSTEP_BUFFER_SIZE")) {
    if (Status status = read_size(*given, kMebibyte, "MiB", kLeastBuffer, kMaxBuffer, " from 64KiB to 64GiB",
                                  options.buffer_bytes);
        !status.ok())
      return status;
  }
  // It has no flag, and goes to the job as it is.
  if (const auto given = asking.variable("LOCKSTEP_RING_MEMORY")) {
    std::uint64_t ignored = 0;
    return read_size(*given, 1, "bytes", 1, UINT64_MAX, " above 0", ignored);
  }
  return {};
}

// What is either asked for or not.
Status read_flag(const Asking& asking, const char* flag, bool given_by_flag, const char* variable,
                 bool& value) {
  value = given_by_flag;
  const std::optional<Given> given = asking.variable(variable);
  if (given_by_flag || !given) return {};
  const std::optional<bool> on = control::parse_flag(given->value);
  if (!on) return wrong(*given, fmt::format("give 1 for {}, or 0", flag));
  value = *on;
  return {};
}

Status read_sources(const PlanArguments& arguments, const Asking& asking, tracer::record::Options& options) {
  if (const auto given = asking.get("--sources", arguments.sources, "LOCKSTEP_SOURCES")) {
    if (const std::optional<std::string> unknown = control::unknown_source(given->value))
      return wrong(*given, fmt::format("'{}' is no source; there are {}", *unknown,
                                       fmt::join(tracer::kSourceNames, ", ")));
    options.sources = given->value;
  }
  if (Status status = read_flag(asking, "--cpu", arguments.cpu, "LOCKSTEP_CPU", options.cpu); !status.ok())
    return status;
  if (Status status =
          read_flag(asking, "--operators", arguments.operators, "LOCKSTEP_OPERATORS", options.operators);
      !status.ok())
    return status;
  options.stacks = kLooksPerSecond;
  if (const auto given = asking.get("--stacks", arguments.stacks, "LOCKSTEP_STACKS")) {
    const std::optional<double> looks =
        given->value == "0" || given->value == "off" ? 0 : control::parse_factor(given->value);
    if (!looks.has_value() || *looks > kMaxLooksPerSecond)
      return wrong(*given, fmt::format("give a number of looks a second, above 1 and up to {:g}, or 0",
                                       kMaxLooksPerSecond));
    options.stacks = *looks;
  }
  if (const auto given = asking.get("--cuda-api", arguments.cuda_api, "LOCKSTEP_CUDA_API")) {
    if (given->value != "launches" && given->value != "all") return wrong(*given, "give launches or all");
    options.all_cuda_calls = given->value == "all";
  }
  return {};
}

}  // namespace

void describe(CLI::App& app, PlanArguments& arguments) {
  app.add_option("--steps", arguments.steps,
                 "Record only these steps, by the job's own numbers: N, A:B, A: or :B (both ends included). "
                 "What one usually wants: no matter how long the job takes to get there")
      ->option_text("A:B");
  app.add_option("--delay", arguments.delay,
                 "Record nothing for this long after the start of the command: launcher and imports, often a "
                 "minute, are part of it")
      ->option_text("TIME");
  app.add_option("--duration", arguments.duration,
                 "Record for this long: from the start of the command, the end of --delay, or the first of "
                 "--steps")
      ->option_text("TIME");
  app.add_option("--sources", arguments.sources,
                 fmt::format("What to record, of {} [what each source does by default]",
                             fmt::join(tracer::kSourceNames, ",")))
      ->option_text("LIST");
  app.add_flag(
      "--cpu", arguments.cpu,
      "Counters ten times a second: CPU time, run-queue delay, faults, network, GPU clocks and power");
  app.add_flag("--operators", arguments.operators,
               "Modules and operators of PyTorch, so that a rank that computes longer is known to do so in "
               "layers.7.mlp. Costs half a microsecond an operator and two a module's call");
  app.add_option(
         "--stacks", arguments.stacks,
         fmt::format("Look at the main thread's Python stack so many times a second, so that time that "
                     "no range names is known by function, file and line; 0: never [{:g}]",
                     kLooksPerSecond))
      ->option_text("N");
  app.add_option("--cuda-api", arguments.cuda_api,
                 "Calls of the CUDA API to record: launches (and copies, fills, waits), or all [launches]")
      ->option_text("WHICH");
  app.add_option("--max-size", arguments.max_size,
                 "Stop recording a process whose file has this size, as in 512MB or 2GB (a number alone: "
                 "megabytes); the job goes on")
      ->option_text("SIZE");
  app.add_option("--buffer-size", arguments.buffer_size,
                 "Buffers in each process, at most, as in 256MiB (a number alone: MiB); more lets bursts "
                 "through that would be lost [64MiB]")
      ->option_text("SIZE");
  app.add_option("--ring", arguments.ring,
                 "Keep the last TIME in memory, and write it when a step is slow, on a hang, on --attach RUN "
                 "snapshot, and at the end")
      ->option_text("TIME");
  app.add_option("--ring-factor", arguments.ring_factor,
                 "A step is slow that takes this many times the median step [2]")
      ->option_text("X");
  app.add_option(
         "--hang-timeout", arguments.hang_timeout,
         "When all ranks of this host end no step and no collective for TIME, write down what each was "
         "doing; off: never. It disturbs nothing that only takes long [5m]")
      ->option_text("TIME|off");
  app.add_flag(
      "--survive-kill", arguments.survive_kill,
      "Lose nothing of a process that is killed, crashes or leaves by _exit, instead of up to its last "
      "second: a process beside each, in its memory, writes what it left. Tools that add up the memory of "
      "processes count it twice");
}

Status fill_plan(const PlanArguments& arguments, const CLI::App& app,
                 const std::function<const char*(const char*)>& lookup, tracer::record::Options& options) {
  const Asking asking(app, lookup);
  control::Plan& plan = options.plan;
  if (const auto given = asking.get("--steps", arguments.steps, "LOCKSTEP_STEPS")) {
    plan.steps = control::parse_steps(given->value);
    if (!plan.steps.has_value())
      return wrong(
          *given,
          "give a step or a range of steps, from 0 on and the first not above the last, as in 3, 3:5, "
          "3: or :5");
  }
  if (Status status = read_times(arguments, asking, plan); !status.ok()) return status;
  if (Status status = read_hang_timeout(arguments, asking, options); !status.ok()) return status;
  if (Status status = read_sizes(arguments, asking, options); !status.ok()) return status;
  if (Status status = read_flag(asking, "--survive-kill", arguments.survive_kill, "LOCKSTEP_SURVIVE_KILL",
                                plan.survive_kill);
      !status.ok())
    return status;
  return read_sources(arguments, asking, options);
}

}  // namespace lockstep::cli

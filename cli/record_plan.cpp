#include "cli/record_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tracer/control/plan.h"

namespace lockstep::cli {
namespace {

namespace control = tracer::control;

constexpr std::uint64_t kMegabyte = 1'000'000;
constexpr std::uint64_t kMostMegabytes = 1'000'000'000;

// A time greater than none.
Status read_time(const char* flag, const std::string& text, std::int64_t& time) {
  const std::optional<std::int64_t> value = control::parse_duration(text);
  if (!value.has_value() || *value == 0)
    return Error{fmt::format("{} {}: give a time above 0, as in 30, 30s, 500ms, 2.5m or 1h", flag, text)};
  time = *value;
  return {};
}

Status read_factor(const std::string& text, double& factor) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value <= 1)
    return Error{fmt::format(
        "--ring-factor {}: give a number above 1, as in 2: a step that takes twice the median", text)};
  factor = value;
  return {};
}

Status read_megabytes(const std::string& text, std::uint64_t& bytes) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value == 0 || value > kMostMegabytes)
    return Error{
        fmt::format("--max-size {}: give a number of megabytes, from 1 to {}", text, kMostMegabytes)};
  bytes = value * kMegabyte;
  return {};
}

}  // namespace

void describe(CLI::App& app, PlanArguments& arguments) {
  app.add_option("--steps", arguments.steps,
                 "Record only these steps, by the job's own numbers: N, A:B, A: or :B (both ends included)")
      ->option_text("A:B");
  app.add_option("--delay", arguments.delay, "Record nothing for this long after the job's start")
      ->option_text("TIME");
  app.add_option("--duration", arguments.duration,
                 "Record for this long: from the job's start, the end of --delay, or the first of --steps")
      ->option_text("TIME");
  app.add_option("--sources", arguments.sources,
                 fmt::format("What to record, of {} [what each source does by default]",
                             fmt::join(control::kSourceNames, ",")))
      ->option_text("LIST");
  app.add_option("--max-size", arguments.max_size,
                 "Stop recording a process whose file has this many megabytes; the job goes on")
      ->option_text("MB");
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
         "doing [off]")
      ->option_text("TIME");
}

Status fill_plan(const PlanArguments& arguments, const CLI::App& app, tracer::record::Options& options) {
  control::Plan& plan = options.plan;
  const auto given = [&](const char* flag) { return app.count(flag) != 0; };
  if (given("--steps")) {
    plan.steps = control::parse_steps(arguments.steps);
    if (!plan.steps.has_value())
      return Error{fmt::format(
          "--steps {}: give a step or a range of steps, the first not above the last, as in 3, 3:5, 3: or :5",
          arguments.steps)};
  }
  struct Time {
    const char* flag;
    const std::string& text;
    std::int64_t& time;
  };
  for (const Time& time : {Time{"--delay", arguments.delay, plan.delay_ns},
                           Time{"--duration", arguments.duration, plan.duration_ns},
                           Time{"--ring", arguments.ring, plan.ring_ns},
                           Time{"--hang-timeout", arguments.hang_timeout, plan.hang_timeout_ns}}) {
    if (!given(time.flag)) continue;
    if (Status status = read_time(time.flag, time.text, time.time); !status.ok()) return status;
  }
  if (given("--sources")) {
    if (const std::optional<std::string> unknown = control::unknown_source(arguments.sources))
      return Error{fmt::format("--sources {}: '{}' is no source; there are {}", arguments.sources, *unknown,
                               fmt::join(control::kSourceNames, ", "))};
    options.sources = arguments.sources;
  }
  if (given("--max-size")) {
    if (Status status = read_megabytes(arguments.max_size, plan.max_bytes); !status.ok()) return status;
  }
  if (given("--ring-factor")) {
    if (!given("--ring"))
      return Error{fmt::format("--ring-factor {}: means nothing without --ring", arguments.ring_factor)};
    if (Status status = read_factor(arguments.ring_factor, plan.ring_factor); !status.ok()) return status;
  }
  return {};
}

}  // namespace lockstep::cli

#include "analyzer/diagnose/root_cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/diagnose/compute_names.h"
#include "analyzer/diagnose/host_names.h"
#include "analyzer/metrics/scheduling.h"
#include "analyzer/model/phase_names.h"
#include "analyzer/report/quantity.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kDelaysToName = 32;
// One computation that makes up as much of the excess is worth its name.
constexpr double kTellingShare = 0.1;
// A host range may be long because the device was, so it has to explain more.
constexpr double kTellingHostShare = 0.5;

std::string_view phrase(Cause cause, bool on_cpu) {
  // On a CPU lane the host is the device: nothing is launched, something else was done.
  if (cause == Cause::host_bound && on_cpu) return "it did what the trace does not name for";
  switch (cause) {
    case Cause::compute:
      return "it computed for";
    case Cause::transfer:
      return "it moved data for";
    case Cause::barrier_wait:
      return "it waited itself for";
    case Cause::pipeline_bubble:
      return "it waited in a pipeline for";
    case Cause::copy:
      return "it copied memory for";
    case Cause::data_wait:
      return "it waited for data loading for";
    case Cause::host_bound:
      return "its device idled with nothing launched for";
    case Cause::queued:
      return "launched work did not start for";
    case Cause::other:
      return "it was idle, for a reason that the trace does not show, for";
  }
  return "it was late by";
}

// "before that operation", "before the 32 that cost most"
std::string before(std::size_t looked_at, std::size_t all) {
  if (all == 1) return "before that operation";
  if (looked_at == all) return fmt::format("before these {} operations", all);
  return fmt::format("before the {} operations that cost most", looked_at);
}

const RankTrace& late_trace(const Diagnosis& diagnosis, const Delay& delay) {
  const auto records = diagnosis.matching.records_of(diagnosis.matching.matches[delay.match]);
  return diagnosis.job.ranks[records[delay.late_record].rank];
}

// From when the late rank last left an operation with the others until it comes to this one; nullopt where
// the first is not known.
std::optional<Interval> since_left(const Diagnosis& diagnosis, const Delay& delay) {
  const MatchRecord late =
      diagnosis.matching.records_of(diagnosis.matching.matches[delay.match])[delay.late_record];
  const Nanoseconds left = left_at(diagnosis.job, diagnosis.matching, delay, late.rank);
  return left == kUnknownTime ? std::nullopt
                              : std::optional(Interval{left, activity_of(diagnosis.job, late).begin});
}

std::string operation_name(const Diagnosis& diagnosis, std::uint32_t match) {
  const Match& operation = diagnosis.matching.matches[match];
  const std::string& group = diagnosis.matching.groups[operation.group].name;
  std::string text = trace::to_string(operation.operation);
  return group.empty() ? text : fmt::format("{} of group {}", text, group);
}

// "178 ms, the others for 108 ms"
std::string beside_the_others(std::int64_t own, std::int64_t others, std::size_t count) {
  const std::string mean = count > 1 ? " on average" : "";
  return others == 0
             ? fmt::format("{}{}, the others not at all", format_duration(own), mean)
             : fmt::format("{}{}, the others for {}", format_duration(own), mean, format_duration(others));
}

// Where the late rank spent more on the cause than a step lasts: since when that counts. "" elsewhere.
std::string more_than_a_step(const Diagnosis& diagnosis, std::span<const Delay* const> delays,
                             std::int64_t own_ns) {
  const std::vector<StepMark>& steps = late_trace(diagnosis, *delays.front()).steps;
  std::int64_t since_ns = 0, known = 0, steps_ns = 0;
  for (const StepMark& step : steps) steps_ns = saturating_add(steps_ns, step.end - step.begin);
  if (steps.empty() || own_ns <= steps_ns / std::ssize(steps)) return "";
  for (const Delay* delay : delays) {
    const std::optional<Interval> since = since_left(diagnosis, *delay);
    if (!since) continue;
    since_ns = saturating_add(since_ns, since->end - since->begin);
    ++known;
  }
  if (known == 0) return "";
  return fmt::format(" (in the {} since the ranks last left an operation together, more than a step)",
                     format_duration(since_ns / known));
}

std::string describe_slowest(const Diagnosis& diagnosis, const SlowComputation& slow) {
  const std::string name = short_name(diagnosis.job.strings.view(slow.name));
  if (slow.own_pass_ns && slow.other_layers_pass_ns)
    return fmt::format("`{}`: {} each time, {} in the median layer of the others", name,
                       format_duration(*slow.own_pass_ns), format_duration(*slow.other_layers_pass_ns));
  if (slow.others_count == 0) return fmt::format("`{}`, which the others do not run meanwhile", name);
  std::string text =
      fmt::format("`{}`: {} beside {}", name, format_duration(slow.own_ns), format_duration(slow.others_ns));
  if (slow.is_more_work)
    text += fmt::format(" (it ran {}, on the others {})", format_plural(slow.own_count, "time"),
                        slow.others_count);
  return text;
}

std::int64_t waited_for_cores(const Diagnosis& diagnosis, std::span<const Delay* const> delays) {
  std::int64_t sum = 0;
  for (const Delay* delay : delays) {
    const std::optional<Interval> since = since_left(diagnosis, *delay);
    if (!since || since->begin >= since->end) continue;
    if (const auto times = scheduling_within(late_trace(diagnosis, *delay).scheduling, *since))
      sum = saturating_add(sum, times->waited_ns);
  }
  return sum;
}

// On busy cores what a rank computed longer may be waiting for one.
std::string beside_waiting_for_cores(const Diagnosis& diagnosis, std::span<const Delay* const> delays,
                                     std::int64_t excess_ns) {
  constexpr std::int64_t kPart = 4;
  const std::int64_t waited = waited_for_cores(diagnosis, delays);
  if (waited <= 0 || kPart * waited < excess_ns) return "";
  return fmt::format(", while its threads waited for a core for {}",
                     format_duration(waited / static_cast<std::int64_t>(delays.size())));
}

// `all`: operations with this cause, of which `delays` are the costliest.
std::string describe_excess(const Diagnosis& diagnosis, Cause cause, std::span<const Delay* const> delays,
                            std::size_t all) {
  std::int64_t own = 0, others = 0;
  bool are_messages = true;
  for (const Delay* delay : delays) {
    own += delay->own_ns;
    others += delay->others_ns;
    are_messages = are_messages && diagnosis.matching.matches[delay->match].point_to_point;
  }
  std::optional<SlowComputation> slow;
  if (cause == Cause::compute) slow = slowest_computation(diagnosis, delays);
  const auto count = static_cast<std::int64_t>(delays.size());
  if (delays.front()->entered_late) {
    return fmt::format(
        "it came into the recording {} after the first rank, the others {} after it: what it did before is "
        "not in the trace",
        format_duration(own / count), format_duration(others / count));
  }
  if (format_duration(own / count) == format_duration(others / count)) return {};  // that explains nothing
  // Before a message the other rank is another stage of a pipeline, whose passes come at other times: only
  // its layers are to be compared with this one's.
  if (are_messages && cause == Cause::compute && !slow) return {};
  const bool on_cpu = late_trace(diagnosis, *delays.front()).device == "cpu";
  std::optional<SlowHostRange> host;
  if (cause == Cause::host_bound) host = slowest_host_range(diagnosis, delays);
  if (host && host->share < kTellingHostShare) host.reset();
  // On a CPU lane the host is the device, and its ranges hold what was computed; but for those of what is no
  // training.
  const std::string_view range = host ? diagnosis.job.strings.view(host->name) : std::string_view();
  if (on_cpu && phase_of_range(range))
    return fmt::format("{} it was in `{}` for {}", before(delays.size(), all), short_name(range),
                       beside_the_others(host->own_ns, host->others_ns, delays.size()));
  std::string text = fmt::format("{} {} {}{}", before(delays.size(), all), phrase(cause, on_cpu),
                                 beside_the_others(own / count, others / count, delays.size()),
                                 more_than_a_step(diagnosis, delays, own / count));
  if (on_cpu) text += beside_waiting_for_cores(diagnosis, delays, own - others);
  if (slow && slow->share >= kTellingShare)
    text += fmt::format("; above all in {}", describe_slowest(diagnosis, *slow));
  if (host && !on_cpu)
    text += fmt::format("; its host was in `{}` for {}", short_name(range),
                        beside_the_others(host->own_ns, host->others_ns, delays.size()));
  return text;
}

}  // namespace

std::string short_name(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  constexpr std::size_t kLongest = 72;
  const bool is_cpp =
      name.starts_with("void ") || name.find("::") != name.npos || name.find('<') != name.npos;
  if (name.starts_with("void ")) name.remove_prefix(5);
  std::string text;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (depth == 0 && name.substr(i).starts_with(kAnonymous)) {
      text += kAnonymous;
      i += kAnonymous.size() - 1;
    } else if (is_cpp && (name[i] == '<' || name[i] == '(')) {
      ++depth;
    } else if ((name[i] == '>' || name[i] == ')') && depth > 0) {
      --depth;
    } else if (depth == 0) {
      text += name[i];
    }
  }
  // Names that are nothing but types, or that do not close what they open, stay as they are.
  if (text.empty() || depth != 0) text = name;
  if (text.size() <= kLongest) return text;
  text.resize(kLongest);
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0u) == 0x80u)
    text.pop_back();  // whole UTF-8
  if (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80u) != 0) text.pop_back();
  return text + "…";
}

std::span<const Delay* const> costliest_delays(const LateCause& cause) {
  return {cause.delays.data(), std::min(cause.delays.size(), kDelaysToName)};
}

std::string describe_root_cause(const Diagnosis& diagnosis, const LateCause& cause) {
  if (cause.delays.empty()) return {};
  const Delay& first = *cause.delays.front();
  const Delay& root = root_of(diagnosis.delays, first);
  // A stage waits by its schedule, and nobody comes late for that.
  if (&root == &first && cause.cause == Cause::pipeline_bubble) return {};
  if (&root == &first)
    return describe_excess(diagnosis, cause.cause, costliest_delays(cause), cause.delays.size());
  // A chain: say where it leads for the costliest operation.
  const Delay* const end[] = {&root};
  const std::string there =
      root.excess_ns > 0 ? describe_excess(diagnosis, root.cause, end, 1) : std::string();
  // A stage waits for another one's pass by the schedule: that one is no culprit for having computed it.
  if (there.empty() && diagnosis.matching.matches[root.match].point_to_point) return {};
  return fmt::format("it waited itself, in {}, for rank {}: there, {}",
                     operation_name(diagnosis, *first.waited_in), late_trace(diagnosis, root).rank,
                     there.empty() ? "nothing explains the delay" : there);
}

}  // namespace lockstep::analyzer

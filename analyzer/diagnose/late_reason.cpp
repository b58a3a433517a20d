#include "analyzer/diagnose/late_reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyzer/diagnose/blame.h"
#include "analyzer/diagnose/garbage_collections.h"
#include "analyzer/diagnose/host_names.h"
#include "analyzer/diagnose/host_shortage.h"
#include "analyzer/diagnose/idle_gaps.h"
#include "analyzer/diagnose/late_compute.h"
#include "analyzer/diagnose/late_launches.h"
#include "analyzer/diagnose/late_transfers.h"
#include "analyzer/diagnose/own_doing.h"
#include "analyzer/diagnose/range_between_computations.h"
#include "analyzer/diagnose/rank_transfers.h"
#include "analyzer/diagnose/root_cause.h"
#include "analyzer/diagnose/slow_place_words.h"
#include "analyzer/intervals/median.h"
#include "analyzer/lateness/core_waits.h"
#include "analyzer/lateness/late_parts.h"
#include "analyzer/report/quantity.h"
#include "trace/events/operator_ranges.h"

namespace lockstep::analyzer {
namespace {

// One host range that makes up as much of the lateness is worth its name.
constexpr double kTellingShare = 0.3;

// What time by a cause is, for in_a_step.
const char* in_words(const FindingContext& context, Cause cause) {
  switch (cause) {
    case Cause::compute:
      return "computes";
    case Cause::host_bound:
      return context.on_cpu ? "does something other than computing, loading data or communicating"
                            : "leaves its device idle with nothing launched";
    case Cause::data_wait:
      return "waits for data";
    case Cause::copy:
      return "does nothing but copy memory";
    case Cause::queued:
      return "leaves launched work waiting";
    case Cause::transfer:
      return "moves data, after all have come,";
    default:
      return "idles";
  }
}

// What the delay analysis has of operations that this rank was late to by this cause.
std::vector<const Delay*> delays_of(const FindingContext& context, const StepTable& steps,
                                    const RankLateness& late) {
  const auto is_in = [&](std::int64_t step) {
    return std::binary_search(steps.steps.begin(), steps.steps.end(), step);
  };
  const auto counts = [&](const CollectiveReport& collective) {
    if (context.scheduled.contains(collective)) return false;
    // What a rank does at the end of a step makes it late in the next one.
    return steps.steps.size() == context.steps.steps.size() ||
           (collective.step && (is_in(*collective.step) || is_in(*collective.step - 1)));
  };
  for (const LateCause& cause : causes_of_lateness(context.diagnosis, context.report, late.rank, counts)) {
    if (cause.cause != late.cause || cause.entered_late) continue;
    const std::span<const Delay* const> costliest = costliest_delays(cause);
    return {costliest.begin(), costliest.end()};
  }
  return {};
}

// On a CPU: of the time between its computations, the part in which the rank's training threads ran.
std::optional<GapTimes::Running> running_share(const FindingContext& context, std::int32_t rank) {
  if (!context.on_cpu) return std::nullopt;
  for (const RankTrace& trace : context.diagnosis.job.ranks)
    if (trace.rank == rank) return times_of_gaps(trace, context.report, Cause::host_bound).running;
  return std::nullopt;
}

// In which host range it does so.
std::optional<std::uint32_t> host_range_of(const FindingContext& context, const StepTable& steps,
                                           const RankLateness& late) {
  if (is_late_by_idling(steps, late))
    return host_range_of_idling(context.diagnosis, context.scheduled.idle(), late.rank);
  if (context.on_cpu) return range_between_computations(context, steps, late, kTellingShare);
  const std::optional<SlowHostRange> range =
      slowest_host_range(context.diagnosis, delays_of(context, steps, late));
  return range && range->share >= kTellingShare ? std::optional(range->name) : std::nullopt;
}

LateReason reason_of_loading(const RankLateness& late) {
  LateReason reason;
  reason.code = "loads_data";
  reason.doing = fmt::format("loads data for {} longer", format_duration(late.cause_ns));
  reason.evidence.push_back(in_a_step("waits for data", late));
  reason.remedy =
      "DataLoader(num_workers=N, prefetch_factor=4, persistent_workers=True), with N cores that the ranks do "
      "not compute on; where all ranks load, the same amount of data work on every one";
  return reason;
}

// A stage that loads the data of each microbatch does so within its pipeline.
bool is_data_loading(const Job& job, std::int32_t rank, std::uint32_t name) {
  for (const RankTrace& trace : job.ranks)
    if (trace.rank == rank)
      return std::any_of(trace.host_ranges.begin(), trace.host_ranges.end(), [name](const HostRange& range) {
        return range.kind == HostKind::data_loading && range.name == name;
      });
  return false;
}

LateReason reason_of_host(const FindingContext& context, const StepTable& steps, const RankLateness& late) {
  if (std::optional<LateReason> more = reason_of_launches(context, steps, late)) return *std::move(more);
  LateReason reason;
  reason.code = "host";
  const std::optional<std::uint32_t> range = host_range_of(context, steps, late);
  if (range && is_late_by_idling(steps, late) && is_data_loading(context.diagnosis.job, late.rank, *range))
    return reason_of_loading(late);
  // A line of Python says more than the range around it.
  std::string place = name_where_python_was(context, steps, late, reason);
  const bool is_line = !place.empty();
  if (!is_line && range) place = fmt::format("`{}`", short_name(context.diagnosis.job.strings.view(*range)));
  const bool is_garbage = collects_garbage_alone(context, steps, late);
  if (is_line && !is_garbage) reason.line = place;
  if (is_garbage)
    place = fmt::format("`{}`{}", trace::kGarbageCollection, is_line ? " at " + place : std::string());
  const bool is_named = !place.empty();
  if (is_named) {
    reason.doing = fmt::format("spends {} longer on its host, in {}", format_duration(late.cause_ns), place);
  } else if (context.on_cpu) {
    reason.doing = fmt::format("does something for {} longer that the trace does not name",
                               format_duration(late.cause_ns));
  } else {
    reason.doing = fmt::format("launches its work {} later", format_duration(late.cause_ns));
  }
  reason.evidence.push_back(in_a_step(in_words(context, Cause::host_bound), late));
  constexpr double kSlept = 0.2, kRan = 0.5;
  const std::string where = is_named ? "in " + place : "between its computations";
  if (const auto ran = running_share(context, late.rank); ran && ran->least <= kSlept && ran->most <= kRan) {
    reason.code = "blocked";
    reason.doing =
        fmt::format("sleeps or is blocked for {} longer {}", format_duration(late.cause_ns), where);
    reason.evidence.push_back("none of its training threads was on a core then, and none was ready to run");
    reason.remedy =
        is_line
            ? fmt::format(
                  "look for `time.sleep`, locks (the interpreter's too, which other Python threads hold), files and network reads in {}",
                  place)
            : fmt::format(
                  "look for `time.sleep`, locks (the interpreter's too, which other Python threads hold), files and network reads in what rank {} does between its "
                  "passes; {}",
                  late.rank, how_to_name_it(context.diagnosis.job));
    return reason;
  } else if (ran && ran->least >= kRan) {
    if (!is_named)
      reason.doing = fmt::format("runs something for {} longer that the trace does not name",
                                 format_duration(late.cause_ns));
    reason.evidence.push_back("its training threads run then, or are ready to");
  }
  if (is_garbage || place == fmt::format("`{}`", trace::kGarbageCollection)) {
    reason.remedy = kGarbageRemedy;
  } else if (context.on_cpu) {
    reason.remedy = is_named
                        ? fmt::format("shorten it, or let rank {} do it beside the training loop", late.rank)
                        : fmt::format(
                              "{}; or put NVTX ranges around what rank {} does between its computations "
                              "(docs/instrumentation.md)",
                              how_to_name_it(context.diagnosis.job), late.rank);
  } else if (is_line) {
    reason.remedy = fmt::format(
        "see what rank {} does in {}, where the others are not, or not as long: shorten it, or do it beside "
        "the training loop",
        late.rank, place);
  } else {
    reason.remedy = fmt::format(
        "rank {}'s process: pin it (`numactl --cpunodebind=N --membind=N`), `gc.freeze(); gc.disable()`, "
        "fewer launches (`torch.compile(mode=\"reduce-overhead\")`)",
        late.rank);
  }
  return reason;
}

// On loaded cores looks are seldom, and sleep between two of them lies within time in which the threads ran
// as well. What a rank computes longer, by its ranges, and its threads neither ran nor waited for a core
// longer, they slept or were blocked: told where that is three quarters of it at least.
struct Asleep {
  std::int64_t ns = 0;
  std::int64_t awake_ns = 0;  // of what it computes longer, at most
};
std::optional<Asleep> asleep_in_computations(const StepTable& steps, const RankLateness& late) {
  constexpr std::int64_t kQuarter = 4;
  const auto ran = mean_excess(steps, late.rank, &Measures::on_core_ns);
  const auto waited = run_queue_excess(steps, late.rank);
  if (late.cause != Cause::compute || !ran || !waited) return std::nullopt;
  const std::int64_t awake = std::max<std::int64_t>(0, *ran) + std::max<std::int64_t>(0, *waited);
  if (kQuarter * awake > late.cause_ns) return std::nullopt;
  return Asleep{late.cause_ns - awake, awake};
}

// On a CPU: what the scheduler says of the rank's training threads comes before what they were doing. Cores
// carry transfers out, too.
std::optional<LateReason> reason_of_scheduling(const FindingContext& context, const StepTable& steps,
                                               const RankLateness& late) {
  const bool is_transfer = context.on_cpu && late.cause == Cause::transfer;
  if (late.cause != Cause::compute && late.cause != Cause::host_bound && !is_transfer) return std::nullopt;
  const auto explains = [&late](std::optional<std::int64_t> ns) {
    return ns && static_cast<double>(*ns) >= kExplains * static_cast<double>(late.mean_ns);
  };
  LateReason reason;
  if (const auto waited = core_wait_excess(steps, late); explains(waited)) {
    reason.code = kWaitsForCore;
    reason.doing = fmt::format("waits for a CPU core for {} longer", format_duration(*waited));
    reason.evidence.push_back(
        "its training threads were ready to run and had no core for that time, beyond the median of the "
        "others");
    reason.remedy = fmt::format(
        "see what else runs on rank {}'s cores (`taskset -p`, `top`) and give it its own; OMP_NUM_THREADS = "
        "cores / ranks of the host",
        late.rank);
    return reason;
  }
  if (is_transfer) return std::nullopt;
  const auto off = mean_excess(steps, late.rank, &Measures::off_cpu_ns);
  if (!off) return std::nullopt;
  const std::optional<Asleep> asleep = explains(off) ? std::nullopt : asleep_in_computations(steps, late);
  if (!explains(off) && !asleep) return std::nullopt;
  reason.code = "blocked";
  RankLateness off_cpu = late;
  off_cpu.cause_ns = asleep ? asleep->ns : *off;
  reason.ns = off_cpu.cause_ns;
  const std::string place = name_where_python_was(context, steps, off_cpu, reason);
  reason.line = place;
  reason.doing = fmt::format("sleeps or is blocked for {} longer {}", format_duration(off_cpu.cause_ns),
                             place.empty() ? "where it should compute" : "in " + place);
  reason.evidence.push_back(
      asleep ? fmt::format(
                   "its computations last {} longer in a step, of which its training threads ran or waited "
                   "for a core for {} at most",
                   format_duration(late.cause_ns), format_duration(asleep->awake_ns))
             : "none of its training threads was on a core then, and none was ready to run");
  // Where looks at threads are seldom, sleep lies between two in whose time they ran as well.
  if (!asleep && shortage_of(context.shortages, late.rank) != nullptr)
    reason.evidence.push_back("cores are short: it may have slept for longer than could be seen");
  reason.remedy =
      place.empty()
          ? fmt::format(
                "look for `time.sleep`, locks (the interpreter's too, which other Python threads hold), files and network reads in what rank {} does in its passes; {}",
                late.rank, how_to_name_it(context.diagnosis.job))
          : fmt::format(
                "look for `time.sleep`, locks (the interpreter's too, which other Python threads hold), files and network reads in {}",
                place);
  return reason;
}

LateReason reason_of_cause(const FindingContext& context, const StepTable& steps, const RankLateness& late) {
  LateReason reason;
  switch (late.cause.value_or(Cause::other)) {
    case Cause::compute:
      return reason_of_compute(context, steps, late, delays_of(context, steps, late));
    case Cause::host_bound:
      return reason_of_host(context, steps, late);
    case Cause::data_wait:
      return reason_of_loading(late);
    case Cause::copy:
      reason.code = "copies";
      reason.doing = fmt::format("copies memory for {} longer", format_duration(late.cause_ns));
      reason.evidence.push_back(in_a_step(in_words(context, Cause::copy), late));
      reason.remedy =
          "pin_memory=True and `.to(device, non_blocking=True)`, so that copies run beside compute";
      return reason;
    case Cause::queued:
      reason.code = "queued";
      reason.doing = fmt::format("starts what it has launched {} later", format_duration(late.cause_ns));
      reason.evidence.push_back(in_a_step(in_words(context, Cause::queued), late));
      reason.remedy = "look for stream waits and synchronising calls before the collective on that rank";
      return reason;
    case Cause::transfer:
      return reason_of_transfer(context, steps, late);
    default:
      reason.doing = "comes late, and why is not known";
      reason.remedy =
          context.on_cpu
              ? fmt::format("{}; or put NVTX ranges around what rank {} does (docs/instrumentation.md)",
                            how_to_name_it(context.diagnosis.job), late.rank)
              : fmt::format(
                    "record rank {} with launches and host ranges (`lockstep record`, or "
                    "torch.profiler with activities CPU and CUDA), to see what it does before it "
                    "arrives",
                    late.rank);
      return reason;
  }
}

// Beside the first cause: "computes 1.5 % longer".
std::string briefly(const FindingContext& context, const LatePart& part) {
  const std::string time = format_duration(part.ns);
  switch (part.cause) {
    case Cause::compute: {
      RankLateness as_lateness;
      as_lateness.cause_ns = part.ns;
      as_lateness.others_ns = part.others_ns;
      return "computes " + longer(as_lateness);
    }
    case Cause::host_bound:
      return context.on_cpu ? fmt::format("does something for {} longer that the trace does not name", time)
                            : fmt::format("launches its work {} later", time);
    case Cause::data_wait:
      return fmt::format("loads data for {} longer", time);
    case Cause::copy:
      return fmt::format("copies memory for {} longer", time);
    case Cause::queued:
      return fmt::format("starts what it has launched {} later", time);
    case Cause::transfer:
      return fmt::format("moves data for {} longer", time);
    default:
      return fmt::format("idles for {} longer", time);
  }
}

// What makes up a quarter of the lateness, two causes at most; empty where that is less than half of it.
std::vector<LatePart> telling_parts(const StepTable& steps, const RankLateness& late) {
  constexpr double kTelling = 0.25;
  const auto whole = static_cast<double>(late.mean_ns);
  std::vector<LatePart> parts = parts_of_lateness(steps, steps.index_of(late.rank));
  std::erase_if(parts,
                [whole](const LatePart& part) { return static_cast<double>(part.ns) < kTelling * whole; });
  if (parts.size() > 2) parts.resize(2);
  double explained = 0;
  for (const LatePart& part : parts) explained += static_cast<double>(part.ns);
  if (explained < kExplains * whole) parts.clear();
  return parts;
}

// On loaded cores what a rank computes longer may be waiting for one, or sleep that looks did not show:
// beside another cause it is said only where its threads ran longer. Nor are transfers that the cores of its
// own host carry out.
bool is_worth_saying(const FindingContext& context, const StepTable& steps, const RankLateness& late,
                     const LatePart& part) {
  if (part.cause == Cause::transfer && context.on_cpu)
    return 2 * slower_on_host_cores(context.report, steps, late.rank) < part.ns;
  if (part.cause != Cause::compute) return true;
  const auto ran = mean_excess(steps, late.rank, &Measures::on_core_ns);
  return !ran || 2 * *ran >= part.ns;
}

}  // namespace

LateReason reason_of(const FindingContext& context, const StepTable& steps, const RankLateness& late) {
  const std::vector<LatePart> parts = telling_parts(steps, late);
  RankLateness by_first = late;
  if (!late.cause && !parts.empty()) {
    by_first.cause = parts.front().cause;
    by_first.cause_ns = parts.front().ns;
    by_first.others_ns = parts.front().others_ns;
  }
  std::optional<LateReason> scheduling = reason_of_scheduling(context, steps, by_first);
  const bool is_by_scheduling = scheduling.has_value();
  LateReason reason = is_by_scheduling ? *std::move(scheduling) : reason_of_cause(context, steps, by_first);
  if (by_first.cause) reason.part = {*by_first.cause, by_first.cause_ns, by_first.others_ns};
  // In a pipeline what a stage idles may be called its host's or its loading, and what the others idle at the
  // same time their bubble: that it idles longer is not known.
  const auto is_bubble_elsewhere = [&context](Cause cause) {
    return !context.report.pipeline.empty() && (cause == Cause::host_bound || cause == Cause::data_wait);
  };
  if (!is_by_scheduling && parts.size() > 1 && parts.front().cause == by_first.cause &&
      !is_bubble_elsewhere(parts[1].cause) && is_worth_saying(context, steps, late, parts[1])) {
    reason.doing += ", and " + briefly(context, parts[1]);
    RankLateness by_second = late;
    by_second.cause_ns = parts[1].ns;
    by_second.others_ns = parts[1].others_ns;
    reason.evidence.push_back(in_a_step(in_words(context, parts[1].cause), by_second));
  }
  return reason;
}

}  // namespace lockstep::analyzer

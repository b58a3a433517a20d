#include "analyzer/diagnose/late_compute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "analyzer/diagnose/cell_statistics.h"
#include "analyzer/diagnose/compute_names.h"
#include "analyzer/diagnose/compute_totals.h"
#include "analyzer/diagnose/gpu_clocks.h"
#include "analyzer/diagnose/own_doing.h"
#include "analyzer/diagnose/root_cause.h"
#include "analyzer/diagnose/slow_part_words.h"
#include "analyzer/diagnose/slow_place_words.h"
#include "analyzer/diagnose/step_work.h"
#include "analyzer/lateness/core_waits.h"
#include "analyzer/lateness/late_parts.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

// One computation that makes up as much of the lateness is worth its name.
constexpr double kTellingShare = 0.3;

// Kernels that are launched larger take longer in proportion at most, or they are launched otherwise and not
// for more: twice as much as the time tells, for what is so small that it costs little.
constexpr double kMostThatWorkExplains = 2;
// Of the others' work, in kernels of which a rank does more, for it to have more to do as a whole.
constexpr double kPartOfMoreWork = 0.5;
// Of the steps in which a rank launches what most others do, for its work to be the same.
constexpr std::size_t kAlike = 9, kOfSteps = 10;
constexpr const char* kBalance =
    "balance the work over ranks: batches by length (tokens, not samples), experts and layers by cost";

struct MoreWork {
  std::string what;
  double times = 1;  // the others'
};
std::optional<MoreWork> more_work(const FindingContext& context, const StepTable& steps,
                                  const RankLateness& late, const std::optional<KernelWork>& sizes) {
  const std::optional<StepWork> work = work_of_steps(context.diagnosis.job, steps, sizes);
  if (!work) return std::nullopt;
  const auto times = amount_beside_others(steps, work->amount, steps.index_of(late.rank));
  const double expected =
      late.others_ns > 0 ? static_cast<double>(late.cause_ns) / static_cast<double>(late.others_ns) : 0;
  if (!times || expected <= 0 || *times - 1 < kExplains * expected) return std::nullopt;
  if (work->kernels) {
    if (*times - 1 > kMostThatWorkExplains * expected) return std::nullopt;
    if (work->kernels->part_with(steps.index_of(late.rank), 1 + (*times - 1) / 2) < kPartOfMoreWork)
      return std::nullopt;
  }
  return MoreWork{work->what, *times};
}

// In how many steps the rank launched the same as most others; absent unless that is nearly always.
std::optional<std::size_t> steps_of_same_work(const std::optional<KernelWork>& sizes, const StepTable& steps,
                                              std::int32_t rank) {
  if (!sizes) return std::nullopt;
  const std::size_t alike = sizes->steps_alike(steps.index_of(rank));
  return kOfSteps * alike >= kAlike * steps.steps.size() ? std::optional(alike) : std::nullopt;
}

// What stood before the operations that were waited for longest (`before_delays`) is on loaded cores what had
// no core then, by chance: on a CPU it has to be longer in all steps as well, or gives way to what is.
std::optional<std::uint32_t> name_of_longest(const FindingContext& context, const StepTable& steps,
                                             const RankLateness& late,
                                             std::optional<std::uint32_t> before_delays) {
  if (!context.on_cpu) return before_delays;
  const std::vector<ComputeExcess> all = computations_by_excess(context.diagnosis.job, steps, late.rank);
  const auto makes_up = [&](const ComputeExcess& one, double part) {
    return static_cast<double>(one.excess_ns()) >= part * static_cast<double>(late.cause_ns);
  };
  const auto known = std::find_if(all.begin(), all.end(), [&](const ComputeExcess& one) {
    return before_delays && one.name == *before_delays;
  });
  // Nothing to compare with: of a layer that no other rank has.
  if (before_delays && known == all.end()) return before_delays;
  if (known != all.end() && makes_up(*known, kTellingShare)) return before_delays;
  return !all.empty() && makes_up(all.front(), kExplains) ? std::optional(all.front().name) : std::nullopt;
}

// Of a loop without a wrapper `optimizer` is all from its backward pass on: what it does with gradients, and
// whatever else stands there.
std::string where_it_computes(const FindingContext& context, std::uint32_t name) {
  const std::string range = short_name(context.diagnosis.job.strings.view(name));
  return context.on_cpu && range == "optimizer"
             ? "between its backward pass and the end of its optimizer's step"
             : fmt::format("in `{}`", range);
}

// What to look at on a GPU, as far as its clocks leave it open. `same_work`: it is known not to have more to
// do.
std::string remedy_on_gpu(const ClockComparison& clocks, bool same_work, std::int32_t rank) {
  using enum ClockComparison::Answer;
  if (clocks.answer == cannot_tell && !clocks.remedy.empty()) return clocks.remedy;
  // Lower, where one part of the model stands out: a clock is not why.
  const bool clocks_are_known = clocks.answer == excluded || clocks.answer == lower;
  if (clocks_are_known && same_work)
    return fmt::format(
        "on rank {}'s host: `nvidia-smi` shows what else runs on its GPU, `nvidia-smi -q -d ECC,ROW_REMAPPER` "
        "the errors of its memory",
        rank);
  if (clocks_are_known)
    return fmt::format(
        "see whether rank {}'s work is larger: emit a counter `tokens` (docs/instrumentation.md)", rank);
  return fmt::format(
      "on rank {}'s host: `nvidia-smi -q -d PERFORMANCE,CLOCK,TEMPERATURE` beside another rank's; {}{}", rank,
      clocks.answer == cannot_tell
          ? "`lockstep record --cpu` of all ranks and of more steps reads them often enough"
          : "`lockstep record --cpu` records clocks and throttling",
      same_work ? ". Where these agree, see what else runs on its GPU (`nvidia-smi`); a counter `tokens` "
                  "(docs/instrumentation.md) would rule larger batches out"
                : ". Where these agree its work may be larger: emit a counter `tokens` "
                  "(docs/instrumentation.md)");
}

// And on a CPU: its threads run longer (cores_shared says so), or nobody can tell.
std::string remedy_on_cpu(const FindingContext& context, std::int32_t rank) {
  if (is_said_to_run_longer(context, rank))
    return fmt::format(
        "see what rank {} has more to do than the others: a counter `tokens` (docs/instrumentation.md) tells "
        "whether its batches are larger",
        rank);
  return fmt::format(
      "see what else runs on rank {}'s cores and give it its own (`taskset -c`, OMP_NUM_THREADS = cores / ranks "
      "of the host). Whether its work is larger the trace does not say: emit a counter `tokens` "
      "(docs/instrumentation.md)",
      rank);
}

}  // namespace

std::string longer(const RankLateness& late) {
  if (late.others_ns < late.cause_ns / 4) return fmt::format("{} longer", format_duration(late.cause_ns));
  return fmt::format("{} longer", format_share(late.cause_ns, late.others_ns));
}

std::string in_a_step(const char* what, const RankLateness& late) {
  return fmt::format("in a step it {} for {}, the median of the others for {}", what,
                     format_duration(late.others_ns + late.cause_ns), format_duration(late.others_ns));
}

ComputeWords words_of_compute(const RankLateness& late, const LatePart& whole,
                              std::optional<std::int64_t> ran_longer_ns) {
  const bool is_what_ran = ran_longer_ns && std::abs(late.cause_ns - *ran_longer_ns) <= *ran_longer_ns / 10;
  if (!is_what_ran || late.cause_ns >= whole.ns - whole.ns / 10)
    return {longer(late), in_a_step("computes", late)};
  const std::string ran = format_duration(late.cause_ns);
  return {fmt::format("for {} longer on a core", ran),
          fmt::format(
              "in a step it computes for {}, the median of the others for {}. Its threads ran for {} of the "
              "difference, and no more is counted: the rest may be waiting for a core",
              format_duration(whole.others_ns + whole.ns), format_duration(whole.others_ns), ran)};
}

namespace {

bool is_much_longer(const ComparedPart& part) {
  return 5 * part.own_ns >= 8 * part.others_ns;
}

}  // namespace

LateReason reason_of_compute(const FindingContext& context, const StepTable& steps, const RankLateness& late,
                             std::span<const Delay* const> delays) {
  LateReason reason;
  const auto [how_much, times] =
      words_of_compute(late, time_beyond_others(steps, steps.index_of(late.rank), Cause::compute),
                       mean_excess(steps, late.rank, &Measures::on_core_ns));
  reason.evidence.push_back(times);
  const std::string has_more = fmt::format("has more to compute than the others ({})", how_much);
  const auto sizes = KernelWork::read(context.diagnosis.job, steps, KernelMeasure::launch_size);
  if (const std::optional<MoreWork> more = more_work(context, steps, late, sizes)) {
    reason.code = "more_work";
    reason.doing = has_more;
    reason.evidence.push_back(
        fmt::format("by {} its work is {:.2f} times the others'", more->what, more->times));
    reason.remedy = kBalance;
    return reason;
  }
  reason.code = kComputesLonger;
  // Sleep between two looks at its threads is a part of the pass that it is in.
  const auto ran = context.on_cpu ? mean_excess(steps, late.rank, &Measures::on_core_ns) : std::nullopt;
  const bool hardly_ran = ran && 2 * *ran < late.cause_ns;
  const std::string computes =
      hardly_ran
          ? fmt::format("spends {} longer in its passes, of which its threads ran for {}",
                        format_duration(late.cause_ns), format_duration(std::max<std::int64_t>(0, *ran)))
          : "computes " + how_much;
  reason.doing = computes;
  const std::optional<std::size_t> alike = steps_of_same_work(sizes, steps, late.rank);
  if (alike)
    reason.evidence.push_back(
        fmt::format("in {} of {} it launches the same kernels in the same sizes as most others: if its work "
                    "is larger, then in kernels that are launched alike whatever they have to do",
                    *alike, format_plural(static_cast<std::int64_t>(steps.steps.size()), "step")));
  const bool has_place = say_where_it_computes(context, steps, late, reason);
  reason.names_part = has_place && !reason.parts.rows.empty() && is_much_longer(reason.parts.rows.front());
  if (const std::string alone = context.report.pipeline.empty() ? parts_of_it_alone(reason.parts, late) : "";
      !alone.empty()) {
    reason.code = "other_kernels";
    reason.doing = fmt::format("also runs {}, which {} do not, and {}", alone,
                               reason.parts.others == 1 ? "the others" : "most others", computes);
    reason.remedy = fmt::format("see why rank {} runs that: work that it alone is given", late.rank);
    return reason;
  }
  ClockComparison clocks;
  if (!context.on_cpu) clocks = compare_clocks(context, steps, late);
  reason.evidence.insert(reason.evidence.end(), clocks.evidence.begin(), clocks.evidence.end());
  // A lower clock makes all of it longer, and not one part of the model alone.
  if (clocks.answer == ClockComparison::Answer::lower && !has_place) {
    reason.code = "clocks_lower";
    reason.doing += ", " + clocks.doing;
    reason.remedy = clocks.remedy;
    return reason;
  }
  const std::optional<SlowComputation> slow = slowest_computation(context.diagnosis, delays);
  const bool is_telling = slow && slow->share >= kTellingShare;
  const std::optional<std::uint32_t> name =
      name_of_longest(context, steps, late, is_telling ? std::optional(slow->name) : std::nullopt);
  // A line that it computes in and the others do not says more than the pass that lies around it: a plain
  // loop's is known by its first and last operation alone.
  const std::string line =
      context.on_cpu && !has_place ? name_where_python_was(context, steps, late, reason) : std::string();
  reason.names_line = !line.empty();
  reason.line = line;
  if (reason.names_line)
    reason.doing += fmt::format(", above all in {}", line);
  else if (name && !has_place)
    reason.doing += ", above all " + where_it_computes(context, *name);
  if (is_telling && slow->is_more_work && !context.on_cpu) {
    const std::string kernel = short_name(context.diagnosis.job.strings.view(slow->name));
    if (slow->others_count == 0) {
      reason.code = "other_kernels";
      reason.doing = fmt::format("also runs `{}`, which {} others do not, and {}", kernel,
                                 slow->others_run_it ? "most" : "the", computes);
      reason.remedy = fmt::format(
          "see why rank {} runs that: work that it alone is given, or another algorithm that its library chose "
          "(versions, shapes, free memory)",
          late.rank);
      return reason;
    }
    reason.code = "more_work";
    reason.doing.replace(0, computes.size(), has_more);
    reason.evidence.push_back(
        fmt::format("it runs `{}` {:.2f} times as often as the others", kernel,
                    static_cast<double>(slow->own_count) / static_cast<double>(slow->others_count)));
    reason.remedy = kBalance;
    return reason;
  }
  reason.remedy = context.on_cpu ? remedy_on_cpu(context, late.rank)
                                 : remedy_on_gpu(clocks, alike.has_value(), late.rank);
  if (!has_place && reason.parts.rows.empty())
    reason.remedy += "; `lockstep record --operators` says in which module of the model it computes longer";
  if (reason.names_line)
    reason.remedy = fmt::format("see what rank {} {} in {}, and whether the others do; else {}", late.rank,
                                hardly_ran ? "does, or waits for," : "computes", line, reason.remedy);
  return reason;
}

}  // namespace lockstep::analyzer

// Whom the others wait for, in sentences.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/warns_of.h"
#include "analyzer/report/exposure.h"
#include "analyzer/report/lacking_steps.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/text_sections.h"
#include "analyzer/report/unicode.h"
#include "analyzer/report/unsettled_lateness.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kIndent = 2;

// "rank 7 (30.1 ms with nothing else to do; 35.6 ms in 5 collectives), rank 5 (…) and 2 more ranks". Ranks
// wait in several collectives at once: counted one by one these may last longer than all steps.
Line name_late_ranks(const Report& report, const std::vector<const BlameReport*>& late) {
  std::vector<Line> items;
  for (const BlameReport* blame : late) {
    if (items.size() == 3) break;
    Line item;
    item.bold(fmt::format("rank {}", blame->rank));
    const std::int64_t exposed = blame->exposed_ns - blame->scheduled_exposed_ns;
    const bool is_partly_hidden = exposed < lateness_of(*blame) && is_exposure_known(report, *blame);
    if (is_partly_hidden && has_scheduled_waits(report)) {
      // Stages wait for several messages at once: their sum is more than the time that it took.
      items.push_back(item.text(fmt::format(" ({} with nothing else to do)", format_duration(exposed))));
      continue;
    }
    item.text(" (");
    if (is_partly_hidden)
      item.text(format_duration(exposed) + (items.empty() ? " with nothing else to do; " : "; "));
    item.text(format_duration(lateness_of(*blame)));
    const std::int64_t collectives = blame->collectives - blame->scheduled_collectives;
    if (collectives > 0) {
      item.text(" in " +
                (items.empty() ? format_plural(collectives, "collective") : format_count(collectives)));
    }
    items.push_back(item.text(")"));
  }
  if (late.size() > items.size()) {
    items.push_back(
        Line{}.text(format_plural(static_cast<std::int64_t>(late.size() - items.size()), "more rank")));
  }
  return enumerate(items);
}

// How a sentence begins that says whom the others wait for.
std::string beginning(const Report& report, const BlameReport& first) {
  const LatenessReport& lateness = report.lateness;
  std::string who = "the others wait for ";
  if (first.partial) {
    who = "of the ranks with a record, the others wait for ";
  } else if (!lateness.can_tell && !report.steps_present.empty() && lateness.steps > 0) {
    who = lateness.steps == 1 ? "in the one step looked at the others wait for "
                              : fmt::format("in the {} steps looked at the others wait for ", lateness.steps);
  } else if (!lateness.can_tell && ranks_lacking_steps(report).any()) {
    who = "over what was recorded of all ranks, the others wait for ";
  }
  if (report.some_ranks_only) who = "in the whole job, " + who;
  who.front() = static_cast<char>(who.front() - 'a' + 'A');
  return who;
}

bool is_schedule_known(const Report& report) {
  return std::all_of(report.pipeline.begin(), report.pipeline.end(),
                     [](const PipelineReport& pipeline) { return pipeline.bubble_ratio_ideal.has_value(); });
}

// ", whose stages idle for 1.25 s more than its schedule costs"; empty where they do not, or nobody knows.
std::string beyond_schedule(const Report& report) {
  for (const Finding& finding : report.findings)
    if (finding.topic == Topic::pipeline_bubble && !finding.is_note && is_schedule_known(report))
      return fmt::format(", whose stages idle for {} more than its schedule costs",
                         format_duration(finding.lost_ns));
  return "";
}

// "they wait for each other for 4.1 % of a step". In a pipeline without other collectives what ranks wait for
// is in its bubble.
void add_waiting(const Report& report, Line& line) {
  constexpr std::int64_t kShown = 2000;  // a share of 0.05 % is shown as 0.1 %
  const LatenessReport& lateness = report.lateness;
  if (!report.pipeline.empty() && lateness.waiting_ns * kShown < lateness.step_ns)
    line.text("they wait for each other in their pipeline alone").text(beyond_schedule(report));
  else
    line.text("they wait for each other for ")
        .bold(format_share(lateness.waiting_ns, lateness.step_ns))
        .text(" of a step");
}

bool is_any_late(const Report& report) {
  return std::any_of(report.lateness.ranks.begin(), report.lateness.ranks.end(),
                     [](const RankLateness& rank) { return rank.is_late; });
}

bool is_open_for_want_of_cores(const RankLateness& rank) {
  return rank.not_accused_because == NotAccused::cores_shared;
}

std::vector<std::int32_t> late_ranks_open_for(const Report& report, NotAccused reason) {
  std::vector<std::int32_t> late;
  for (const RankLateness& rank : report.lateness.ranks)
    if (rank.is_late && rank.not_accused_because == reason) late.push_back(rank.rank);
  return late;
}

// Ranks are late, and no finding says that it is their own doing: it costs too little, where cores are few
// the scheduler chooses who comes last, or it may be what their stages of a pipeline have to compute.
void print_nobody_to_blame(const Report& report, Page& page) {
  const std::vector<std::int32_t> for_cores = late_ranks_open_for(report, NotAccused::cores_shared);
  const std::vector<std::int32_t> unknown = late_ranks_open_for(report, NotAccused::cores_unknown);
  const std::vector<std::int32_t> as_stages = late_ranks_open_for(report, NotAccused::stage_computes_more);
  Line line;
  line.text(!for_cores.empty()   ? "Cores are short, and who is last may be the scheduler's choice: "
            : !unknown.empty()   ? "Which rank is slow can't be told: "
            : !as_stages.empty() ? "No rank is known to be late beyond what its stage computes: "
                                 : "No rank is late enough to cost much: ")
      .text(fmt::format("over {} steps ", report.lateness.steps));
  add_waiting(report, line);
  if (!for_cores.empty())
    line.text(
        fmt::format("; {} comes last again and again. As long as cores are short nobody can "
                    "tell whether it would with cores of its own",
                    name_ranks(for_cores)));
  else if (!unknown.empty())
    line.text(
        fmt::format("; {} comes last again and again, {}", name_ranks(unknown), without_cores_known(report)));
  else if (!as_stages.empty())
    line.text(
        fmt::format("; {} {} longest. Stages run different parts of the model, the last one its loss: nobody "
                    "can tell from one pipeline whether a rank is slower as well",
                    name_ranks(as_stages), as_stages.size() == 1 ? "computes" : "compute"));
  page.wrap(line.text("."), kIndent, kIndent);
}

// A finding says why the rank is late, and not by the delay analysis, which knows activities and ranges
// alone.
bool is_explained_otherwise(const Report& report, const BlameReport& blame) {
  const auto is_of_delays = [&](const std::string& evidence) {
    return evidence == "why: " + blame.root_cause;
  };
  return std::ranges::any_of(report.findings, [&](const Finding& finding) {
    if (finding.accuses != Accused::rank || finding.rank != blame.rank) return false;
    if (finding.cause == Cause::host_bound) return true;  // between computations, which has no name
    return !finding.reason.empty() && finding.reason != "unknown" &&
           std::ranges::none_of(finding.evidence, is_of_delays);
  });
}

// How late a rank would have to be to show in these steps, and how many would show one that is late by little
// where no finding says so.
std::string what_would_show(const Report& report) {
  constexpr std::int64_t kMaxSteps = 5'000;
  const LatenessReport& lateness = report.lateness;
  if (lateness.steps_to_tell <= lateness.steps) return "";
  const double shows = std::ceil(100 * lateness_that_shows(lateness));
  if (shows >= 100) return " They vary so much from step to step that one which is late would not show.";
  // Nobody asks whether a rank is late by most of a step.
  constexpr double kMost = 50;
  if (shows > kMost)
    return fmt::format(
        " They vary so much from step to step that one would show only if it were late by {:.0f} % of a step.",
        shows);
  const std::string now = fmt::format(" One that is late by {:.0f} % of a step would have shown", shows);
  const bool is_said =
      std::any_of(report.findings.begin(), report.findings.end(),
                  [](const Finding& finding) { return finding.topic == Topic::taking_turns; });
  if (is_said || lateness.steps_to_tell > kMaxSteps || shows <= 3) return now + ".";
  return fmt::format("{}; by 3 %, after about {} steps.", now,
                     format_count(two_digits(lateness.steps_to_tell)));
}

// A rank may be late by much and not show.
bool shows_little(const Report& report) {
  constexpr double kMuch = 0.1;
  return lateness_that_shows(report.lateness) > kMuch;
}

// Ranks whose trace is damaged, or whose waits are not known: whether these are late nobody has judged. Of
// ranks that lack many of the steps the verdict has said so.
std::vector<std::int32_t> ranks_not_judged(const Report& report, const LackingSteps& lacking) {
  std::vector<std::int32_t> ranks;
  for (const RankReport& rank : report.ranks)
    if (!lacking.has(rank.rank) &&
        std::ranges::none_of(report.lateness.ranks,
                             [&](const RankLateness& judged) { return judged.rank == rank.rank; }))
      ranks.push_back(rank.rank);
  return ranks;
}

// No rank is late beyond chance. Where cores are short or GPUs are shared, that does not say that none is
// late.
void print_nobody_late(const Report& report, Page& page) {
  const std::vector<RankLateness>& ranks = report.lateness.ranks;
  const bool few_cores = std::any_of(ranks.begin(), ranks.end(), is_open_for_want_of_cores);
  const bool shared_gpu = std::any_of(ranks.begin(), ranks.end(), [](const RankLateness& rank) {
    return rank.not_accused_because == NotAccused::gpu_shared;
  });
  const LackingSteps lacking = ranks_lacking_steps(report);
  const std::vector<std::int32_t> not_judged = ranks_not_judged(report, lacking);
  Line line;
  line.text(
          few_cores
              ? "Cores are short, and who is last may be the scheduler's choice: whether a rank is late throughout "
                "can't be told. Over "
          : shared_gpu
              ? "Ranks share a GPU, which chooses whose work comes first: whether a rank is late throughout "
                "can't be told. Over "
          : !not_judged.empty()
              ? fmt::format(
                    "Of {} too little was recorded to tell; of the others none is late throughout: over ",
                    name_ranks(not_judged))
          : lacking.any()        ? "No other rank is late throughout: over "
          : shows_little(report) ? "No rank is seen to be late throughout: over "
                                 : "No rank is late throughout: over ")
      .text(fmt::format("{} steps ", report.lateness.steps));
  add_waiting(report, line);
  line.text(".");
  // More steps tell nothing of cores or a GPU that are short.
  if (!few_cores && !shared_gpu) line.text(what_would_show(report));
  page.wrap(line, kIndent, kIndent);
}

bool has_heavy_stage(const Report& report, std::int32_t rank) {
  return std::any_of(report.findings.begin(), report.findings.end(), [rank](const Finding& finding) {
    return finding.topic == Topic::heavy_stage && finding.rank == rank;
  });
}

// One rank may be late, and these steps do not settle it. Nor do they which one: whom the others wait longer
// than is said as a figure, and named for nothing but what a finding says of its stage.
void print_unsettled(const Report& report, const UnsettledLateness& unsettled, Page& page) {
  const RankLateness& rank = *unsettled.rank;
  Line line;
  const bool is_named = has_heavy_stage(report, rank.rank);
  line.text("Whether ")
      .bold(is_named ? fmt::format("rank {}", rank.rank) : "one of the ranks")
      .text(fmt::format(
          " is late{} can't be told: in the mean of {} steps the others wait {} longer than {} "
          "({} of a step), {}.",
          is_named ? " beyond what its stage computes more" : "", report.lateness.steps,
          format_duration(rank.mean_ns), is_named ? "it" : fmt::format("rank {}", rank.rank),
          format_share(rank.mean_ns, report.lateness.step_ns),
          unsettled.within_clock_error
              ? fmt::format("and the clocks may be off by {}", format_duration(rank.clock_error_ns))
              : fmt::format("which moves by {} from one part of the run to another",
                            format_duration(rank.movement_ns))));
  if (is_open_for_want_of_cores(rank))
    line.text(" Cores are short, and who is last may be the scheduler's choice.");
  else if (unsettled.steps_wanted > 0)
    line.text(fmt::format(" About {} steps like these would tell.", format_count(unsettled.steps_wanted)));
  page.wrap(line, kIndent, kIndent);
}

}  // namespace

bool cores_are_few(const Report& report) {
  return std::any_of(report.findings.begin(), report.findings.end(),
                     [](const Finding& finding) { return finding.topic == Topic::short_cores; });
}

Line enumerate(const std::vector<Line>& items) {
  Line line;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) line.text(i + 1 == items.size() ? " and " : ", ");
    line.add(items[i]);
  }
  return line;
}

std::string name_ranks(const std::vector<std::int32_t>& ranks) {
  constexpr std::size_t kMost = 4;
  std::vector<Line> items;
  for (const std::int32_t rank : ranks) {
    if (items.size() == kMost - 1 && ranks.size() > kMost) break;
    items.push_back(Line{}.text(fmt::format("{}", rank)));
  }
  if (items.size() < ranks.size())
    items.push_back(
        Line{}.text(format_plural(static_cast<std::int64_t>(ranks.size() - items.size()), "other")));
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  const Line line = enumerate(items);
  for (const Span& span : line.spans()) text += span.text;
  return text;
}

// Where too little was recorded to tell, who it was in what there is.
void print_blame(const Report& report, const Totals& totals, Page& page) {
  if (!totals.waits_known || totals.communication_ns == 0) return;
  // There is nobody to wait for it, or nobody known.
  if (report.world_size == 1 || report.ranks_present.size() == 1) return;
  if (warns_of(report.warnings, kStepsApart)) {
    page.wrap(
        Line{}.text(
            "Who is late can't be told: the ranks' steps do not go together (more of that under \"not known\")."),
        kIndent, kIndent);
    return;
  }
  std::vector<const BlameReport*> late = late_ranks(report);
  const bool scheduled = has_scheduled_waits(report);
  if (late.empty() && report.lateness.can_tell &&
      !late_ranks_open_for(report, NotAccused::stage_computes_more).empty()) {
    print_nobody_to_blame(report, page);
    return;
  }
  if (late.empty()) {
    // That nobody could be judged is said.
    if (!report.lateness.can_tell && ranks_lacking_steps(report).any()) return;
    page.wrap(Line{}.text(scheduled ? "No rank is late: they wait for each other in their pipeline alone" +
                                          beyond_schedule(report) + "."
                                    : "No rank is waited for longer than the clocks can tell."),
              kIndent, kIndent);
    return;
  }
  if (report.lateness.can_tell) {
    std::erase_if(late, [&](const BlameReport* blame) { return !is_late(report, blame->rank); });
    if (const std::optional<UnsettledLateness> unsettled = unsettled_lateness(report.lateness);
        late.empty() && unsettled) {
      // A finding that is about this rank has said what it does.
      if (std::ranges::any_of(report.findings, [&](const Finding& finding) {
            return finding.rank == unsettled->rank->rank && finding.severity != "note";
          }))
        return;
      print_unsettled(report, *unsettled, page);
      return;
    }
    if (late.empty() && !is_any_late(report)) {
      print_nobody_late(report, page);
      return;
    }
    // Where a rank left no record, who came last of the others is a fact and all that is known.
    std::erase_if(
        late, [&](const BlameReport* blame) { return !blame->partial && !is_accused(report, blame->rank); });
    if (late.empty()) {
      print_nobody_to_blame(report, page);
      return;
    }
  }
  const BlameReport& first = *late.front();
  const LatenessReport& lateness = report.lateness;
  const bool too_few = !lateness.can_tell && lateness.steps > 0 && lateness.steps < lateness.steps_needed &&
                       !first.partial && !ranks_lacking_steps(report).any();  // what would do is said
  page.wrap(
      Line{}
          .text(beginning(report, first))
          .add(name_late_ranks(report, late))
          .text(scheduled ? "; what the pipeline's schedule makes them wait is left out." : ".")
          .text(too_few ? fmt::format(" {} steps or more would tell whether that is so again and again.",
                                      format_count(lateness.steps_needed))
                        : "")
          .text(!lateness.can_tell && cores_are_few(report)
                    ? " Cores are short, and who is last may be the scheduler's choice."
                    : ""),
      kIndent, kIndent);
  if (!first.root_cause.empty() && is_worth_blaming(report, first) &&
      !is_explained_otherwise(report, first)) {
    page.wrap(Line{}
                  .text(fmt::format("Why rank {} is late: ", first.rank))
                  .text(printable(first.root_cause))
                  .text("."),
              kIndent, kIndent);
  }
}

}  // namespace lockstep::analyzer

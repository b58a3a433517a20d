#include "analyzer/report/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "analyzer/report/quantity.h"
#include "analyzer/report/report_sections.h"
#include "analyzer/report/text_sections.h"
#include "analyzer/report/unicode.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

// "Kineto", "Lockstep": sources as their makers write them.
std::string source_name(const std::string& source) {
  if (source == "kineto") return "Kineto";
  if (source == "lockstep") return "Lockstep";
  return printable(source);
}

// All that was given together was meant to be one job: first of all, that it is not.
void print_other_jobs(const Report& report, Page& page) {
  std::vector<const Warning*> others;
  for (const Warning& warning : report.warnings)
    if (warning.code == "another_job") others.push_back(&warning);
  if (others.empty()) return;
  page.blank();
  page.wrap(Line{}
                .bold("What was given is not of one job")
                .text(": " + printable(others.front()->message) +
                      (others.size() > 1
                           ? fmt::format("; so {} (see \"not known\")",
                                         others.size() == 2 ? "is 1 more"
                                                            : fmt::format("are {} more", others.size() - 1))
                           : "") +
                      "."),
            2, 2);
}

}  // namespace

std::int64_t wait_of(const Measures& m) {
  return m.collective_wait_ns + m.hidden_collective_wait_ns + m.p2p_wait_ns + m.hidden_p2p_wait_ns;
}

std::int64_t exposed_wait_of(const Measures& m) {
  return m.collective_wait_ns + m.p2p_wait_ns;
}

bool is_late(const Report& report, std::int32_t rank) {
  for (const RankLateness& late : report.lateness.ranks)
    if (late.rank == rank && late.is_late) return true;
  for (const Finding& finding : report.findings)
    if (finding.rank == rank && finding.accuses != Accused::nobody && finding.cause == Cause::barrier_wait)
      return true;
  return false;
}

bool is_accused(const Report& report, std::int32_t rank) {
  return std::any_of(report.findings.begin(), report.findings.end(), [rank](const Finding& finding) {
    return finding.rank == rank && finding.alarm == Alarm::none &&
           (finding.accuses == Accused::rank || finding.accuses == Accused::link);
  });
}

bool is_worth_blaming(const Report& report, const BlameReport& blame) {
  constexpr std::int64_t kWorth = 100;
  if (blame.exposed_ns - blame.scheduled_exposed_ns < totals_of(report).window_ns / kWorth) return false;
  // Of what few steps show, the rank that most of the waiting was for is a fact and all that is known: not
  // where another one is waited for half as long, nor where who gets a core last comes last.
  if (!report.lateness.can_tell) {
    if (cores_are_few(report)) return false;
    return std::none_of(report.blame.begin(), report.blame.end(), [&blame](const BlameReport& other) {
      return other.rank != blame.rank && 2 * lateness_of(other) > lateness_of(blame);
    });
  }
  return blame.partial ? is_late(report, blame.rank) : is_accused(report, blame.rank);
}

bool is_marked(const Report& report, std::int32_t rank) {
  const bool accused =
      std::any_of(report.findings.begin(), report.findings.end(), [rank](const Finding& finding) {
        return finding.rank == rank && (finding.accuses == Accused::rank || finding.accuses == Accused::link);
      });
  if (!accused) return false;
  const std::vector<const BlameReport*> late = late_ranks(report);
  return std::any_of(late.begin(), late.end(), [&](const BlameReport* blame) {
    return blame->rank == rank && is_worth_blaming(report, *blame);
  });
}

std::int64_t lateness_of(const BlameReport& blame) {
  return blame.blame_ns - blame.scheduled_ns;
}

std::vector<const BlameReport*> late_ranks(const Report& report) {
  // In a pipeline small delays run through all stages: what is under a hundredth of all time accuses nobody
  // whom no finding does.
  std::int64_t least = 1;
  if (has_scheduled_waits(report)) {
    std::int64_t windows = 0;
    for (const RankReport& rank : report.ranks)
      if (rank.measures.known) windows += rank.measures.window_ns;
    least = std::max<std::int64_t>(least, windows / 100);
  }
  const auto is_named = [&report](std::int32_t rank) {
    return std::any_of(
        report.lateness.ranks.begin(), report.lateness.ranks.end(),
        [rank](const RankLateness& late) { return late.rank == rank && !late.accused_by.empty(); });
  };
  std::vector<const BlameReport*> late;
  for (const BlameReport& blame : report.blame)
    if (lateness_of(blame) >= (is_named(blame.rank) ? 1 : least)) late.push_back(&blame);
  std::stable_sort(late.begin(), late.end(), [](const BlameReport* a, const BlameReport* b) {
    return lateness_of(*a) > lateness_of(*b);
  });
  return late;
}

bool has_scheduled_waits(const Report& report) {
  return std::any_of(report.blame.begin(), report.blame.end(),
                     [](const BlameReport& blame) { return blame.scheduled_ns > 0; });
}

std::int64_t lateness_of(const Report& report, std::int32_t rank) {
  for (const BlameReport& blame : report.blame) {
    if (blame.rank == rank) return lateness_of(blame);
  }
  return 0;
}

std::int64_t scheduled_of(const Report& report, std::int32_t rank) {
  for (const BlameReport& blame : report.blame) {
    if (blame.rank == rank) return blame.scheduled_ns;
  }
  return 0;
}

Totals totals_of(const Report& report) {
  Totals totals;
  for (const RankReport& rank : report.ranks) {
    const Measures& m = rank.measures;
    if (!m.known) continue;
    totals.waits_known = totals.waits_known || m.waits_known;
    totals.window_ns += m.window_ns;
    totals.compute_ns += m.compute_ns;
    totals.communication_ns += m.communication_ns;
    totals.overlap_ns += m.overlap_ns;
    totals.exposed_ns += m.exposed_communication_ns;
    totals.wait_ns += wait_of(m);
    totals.exposed_wait_ns += exposed_wait_of(m);
    totals.root_wait_ns += rank.root_wait_ns;
    for (std::size_t i = 0; i < kCauseCount; ++i) totals.partition.ns[i] += m.partition.ns[i];
  }
  return totals;
}

CoreWaits core_waits_of(const Report& report) {
  CoreWaits waits;
  const auto share = [](const RankReport& rank) {
    return static_cast<double>(*rank.measures.run_queue_ns) / static_cast<double>(rank.measures.window_ns);
  };
  for (const RankReport& rank : report.ranks) {
    const Measures& m = rank.measures;
    if (!m.known || !m.run_queue_ns || m.window_ns <= 0) continue;
    ++waits.ranks;
    waits.waited_ns = saturating_add(waits.waited_ns, *m.run_queue_ns);
    waits.asleep_ns = saturating_add(waits.asleep_ns, m.off_cpu_ns.value_or(0));
    waits.window_ns = saturating_add(waits.window_ns, m.window_ns);
    if (waits.worst == nullptr || share(rank) > share(*waits.worst)) waits.worst = &rank;
  }
  return waits;
}

std::vector<std::string> headline_facts(const Report& report, const TextOptions& options) {
  std::vector<std::string> facts;
  const auto present = static_cast<std::int64_t>(report.ranks_present.size());
  if (report.world_size > present) {
    facts.push_back(fmt::format("{} of {} ranks", present, report.world_size));
  } else {
    facts.push_back(format_plural(present, "rank"));
  }
  std::set<std::string> hosts;
  std::int64_t uncertainty = 0;
  std::string by;  // the evidence for the least certain clock
  bool times = false;
  for (const RankReport& rank : report.ranks) {
    times = times || rank.end_ns > rank.begin_ns;
    if (!rank.host.empty()) hosts.insert(rank.host);
    if (rank.clock.uncertainty_ns > uncertainty && rank.clock.domain != 0) by = rank.clock.evidence;
    uncertainty = std::max(uncertainty, rank.clock.uncertainty_ns);
  }
  if (!hosts.empty()) facts.push_back(format_plural(static_cast<std::int64_t>(hosts.size()), "host"));
  if (std::any_of(report.ranks.begin(), report.ranks.end(),
                  [](const RankReport& rank) { return rank.device == "paced"; }))
    facts.push_back("paced device");
  facts.push_back(report.steps_present.empty()
                      ? "no steps marked"
                      : format_plural(static_cast<std::int64_t>(report.steps_present.size()), "step"));
  for (const std::string& source : report.sources) facts.push_back(source_name(source));
  uncertainty += options.resolution_ns > 1 ? options.resolution_ns : 0;
  if (uncertainty > 0 && times)
    facts.push_back("times ±" + format_duration(uncertainty) + (by.empty() ? "" : " by " + by));
  if (!options.selection.empty()) facts.push_back(options.selection + " only");
  return facts;
}

std::vector<std::string> verdict_lines(const Report& report) {
  PageOptions wide;
  wide.width = 1 << 20;
  Page page(wide);
  print_other_jobs(report, page);
  sections::verdict.print(report, {}, page);
  std::vector<std::string> lines;
  std::istringstream text(page.take());
  for (std::string line; std::getline(text, line);) {
    const std::size_t first = line.find_first_not_of(' ');
    if (first != std::string::npos) lines.push_back(line.substr(first));
  }
  return lines;
}

void print_headline(const Report& report, const TextOptions& options, Page& page) {
  const std::vector<std::string> facts = headline_facts(report, options);
  page.wrap(Line{}.bold(printable(report.path)).text(": ").text(fmt::format("{}", fmt::join(facts, " · "))),
            0, 2);
  print_other_jobs(report, page);
}

void print_heading(Page& page, const char* title, const std::string& remark) {
  page.blank();
  Line line;
  line.bold(title);
  if (!remark.empty()) line.dim(" — ").dim(remark);
  page.wrap(line, 0, 2);
}

void print_more(Page& page, std::size_t more, const char* flag) {
  if (more == 0) return;
  page.add(Line{}.text("  ").dim(
      fmt::format("… {} more: {} all", format_count(static_cast<std::int64_t>(more)), flag)));
}

Line duration_cell(std::int64_t ns) {
  return ns == 0 ? Line{}.dim(format_duration(ns)) : Line{}.text(format_duration(ns));
}

Line duration_cell(std::optional<std::int64_t> ns) {
  return ns ? duration_cell(*ns) : Line{}.dim(kAbsent);
}

Line share_cell(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? Line{}.dim(kAbsent) : Line{}.text(format_share(part, whole));
}

std::string to_text(const Report& report, const TextOptions& options) {
  Page page(options.page);
  print_headline(report, options, page);
  for (const ReportSection* section : report_sections()) section->print(report, options, page);
  return page.take();
}

}  // namespace lockstep::analyzer

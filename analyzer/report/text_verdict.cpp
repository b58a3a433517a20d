#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/warns_of.h"
#include "analyzer/report/all_clear.h"
#include "analyzer/report/exposure.h"
#include "analyzer/report/lacking_steps.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/report_sections.h"
#include "analyzer/report/start_up_in_steps.h"
#include "analyzer/report/text_sections.h"
#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kIndent = 2;

// " For 52.0 % of their time a training thread waits for a core, …": what is called compute is a thread that
// is to compute.
std::string without_a_core(const Report& report) {
  constexpr std::int64_t kWorth = 20;  // a twentieth
  const CoreWaits waits = core_waits_of(report);
  if (waits.ranks == 0 || waits.waited_ns < waits.window_ns / kWorth) return "";
  return fmt::format(
      " For {} of their time a training thread waits for a core, within computations or between them.",
      format_share(waits.waited_ns, waits.window_ns));
}

// Why, in a report in which nothing has a length, or without computation.
void print_unknown(const Report& report, Page& page) {
  if (const std::optional<NoAllClear> unknown = why_no_all_clear(report))
    page.wrap(Line{}.bold(unknown->what).text(unknown->why), kIndent, kIndent);
}

// Of whom the shares are: "Ranks compute for ". Those that have no steps while others have are in none of
// them.
std::string who_computes(const Report& report) {
  std::vector<std::int32_t> with_time;
  std::size_t known = 0;
  for (const RankReport& rank : report.ranks) {
    if (!rank.measures.known) continue;
    ++known;
    if (rank.measures.window_ns > 0) with_time.push_back(rank.rank);
  }
  if (with_time.size() == known || with_time.empty())
    return report.some_ranks_only ? "The chosen ranks compute for " : "Ranks compute for ";
  if (with_time.size() == 1)
    return fmt::format("Rank {}, which alone has steps, computes for ", with_time.front());
  return fmt::format("The {} of {} ranks that have steps compute for ", with_time.size(), known);
}

// Where the ranks' time goes: compute, and the greatest losses.
void print_budget(const Report& report, const Totals& totals, Page& page) {
  if (tells_communication_alone(report)) {
    print_unknown(report, page);
    return;
  }
  const bool undecided =
      !totals.waits_known || report.waits_blurred_ns > 0 || transfer_totals(report).mostly_doubtful();
  std::vector<Cause> losses;
  for (std::size_t i = 1; i < kCauseCount; ++i) losses.push_back(static_cast<Cause>(i));
  std::stable_sort(losses.begin(), losses.end(),
                   [&](Cause a, Cause b) { return totals.partition[a] > totals.partition[b]; });
  std::vector<Line> items;
  for (const Cause cause : losses) {
    const std::int64_t ns = totals.partition[cause];
    // A twentieth of the time is worth a word; the greatest loss always is.
    if (ns == 0 || items.size() == 3 || (!items.empty() && ns < totals.window_ns / 20)) break;
    // Nobody knows how much of it is waiting where partners left no trace, or no record of it, or where times
    // are too coarse.
    const char* label = cause == Cause::transfer && undecided ? "communication" : style_of(cause).label;
    items.push_back(Line{}.cause(label, cause).text(" ").bold(format_share(ns, totals.window_ns)));
  }
  Line line;
  const std::string who = who_computes(report);
  line.text(who)
      .bold(format_share(totals.partition[Cause::compute], totals.window_ns))
      .text(who.starts_with("Rank ") ? " of its time" : " of their time");
  if (!items.empty()) line.text("; the rest is mostly ").add(enumerate(items));
  line.text("." + without_a_core(report));
  page.wrap(line, kIndent, kIndent);
}

// One rank's record of a job of several: what it waits for others looks as what it moves does.
bool leaves_waiting_open(const Report& report, const Totals& totals) {
  return !report.ranks_missing.empty() && report.ranks_present.size() == 1 && totals.communication_ns > 0 &&
         (!totals.waits_known || transfer_totals(report).doubtful_ns > 0);
}

// Of ranks without a record: whether a file of one is there, and nothing of it can be read.
std::string_view that_can_be_read(const Report& report) {
  const auto& missing = report.ranks_missing;
  const bool any = std::any_of(report.warnings.begin(), report.warnings.end(), [&](const Warning& warning) {
    return warning.code == "file_unreadable" &&
           std::find(missing.begin(), missing.end(), warning.rank) != missing.end();
  });
  return any ? " that can be read" : "";
}

void print_one_of_several(const Report& report, const Totals& totals, Page& page) {
  const auto missing = static_cast<std::int64_t>(report.ranks_missing.size());
  page.wrap(
      Line{}
          .bold(fmt::format("{} of {} ranks left no record{}", format_count(missing),
                            format_count(missing + 1), that_can_be_read(report)))
          .text(leaves_waiting_open(report, totals)
                    ? fmt::format(
                          ": how much of the communication of {} is waiting and how much moves data can't be "
                          "told. Record all ranks, and read them together.",
                          name_ranks(report.ranks_present))
                    : ": who waits for whom can't be told. Record all ranks, and read them together."),
      kIndent, kIndent);
}

// Who is late is judged without ranks of which too few steps are known.
void print_lacking_steps(const Report& report, const Totals& totals, Page& page) {
  if (!totals.waits_known || totals.communication_ns == 0) return;
  const LackingSteps lacking = ranks_lacking_steps(report);
  if (!lacking.any()) return;
  const LackingStepsWords words = words_for(lacking, report);
  page.wrap(Line{}.bold(words.what).text(words.why), kIndent, kIndent);
}

// What the rest of the verdict doesn't know.
void print_reservations(const Report& report, const Totals& totals, Page& page) {
  std::vector<std::int32_t> damaged;
  for (const RankReport& rank : report.ranks)
    if (rank.damaged) damaged.push_back(rank.rank);
  if (!damaged.empty()) {
    const char* who = damaged.size() == 1 ? "it" : "they";
    page.wrap(
        Line{}
            .bold(fmt::format("The trace of {} is damaged", name_ranks(damaged)))
            .text(fmt::format(": what {} computed and moved is not known, and left out of all sums.", who)),
        kIndent, kIndent);
  }
  if (!report.ranks_missing.empty() && report.ranks_present.size() == 1)
    print_one_of_several(report, totals, page);
  if (!report.ranks_missing.empty() && report.ranks.size() > 1) {
    page.wrap(
        Line{}
            .bold(fmt::format("No trace of {}{}", name_ranks(report.ranks_missing), that_can_be_read(report)))
            .text(
                report.ranks_missing.size() == 1
                    ? ": whether the others wait for it cannot be told; what is said of waiting is of the "
                      "other ranks alone."
                    : ": whether the others wait for them cannot be told; what is said of waiting is of the "
                      "other ranks alone."),
        kIndent, kIndent);
  }
  print_lacking_steps(report, totals, page);
}

// "22.9 s moves data", and what may be either; or of how much the definition alone says so.
std::string describe_transfer(const Report& report, const Totals& totals) {
  const std::int64_t moved = totals.communication_ns - totals.wait_ns;
  const std::int64_t doubtful = std::min(moved, transfer_totals(report).doubtful_ns);
  constexpr std::int64_t kWorth = 100;  // a hundredth of all time
  if (doubtful == 0 && totals.root_wait_ns > 0 && totals.root_wait_ns >= totals.window_ns / kWorth)
    return fmt::format(
        "; {} counts as transfer, {} of it of roots of broadcasts or scatters that wait for their receivers. ",
        format_duration(moved), format_duration(std::min(moved, totals.root_wait_ns)));
  if (doubtful == 0) return fmt::format("; {} moves data. ", format_duration(moved));
  return fmt::format(
      "; {} moves data, and {} is in operations without a record of every rank: waiting or moving, nobody "
      "can tell. ",
      format_duration(moved - doubtful), format_duration(doubtful));
}

void print_communication(const Report& report, const Totals& totals, Page& page) {
  if (totals.communication_ns == 0 && warns_of(report.warnings, "communication_left_out")) {
    page.wrap(Line{}
                  .bold("No communication in the steady steps")
                  .text(": it lies in steps that are left out; --all-steps includes them."),
              kIndent, kIndent);
    return;
  }
  if (totals.communication_ns == 0) {
    page.wrap(Line{}.bold("No communication found").text(": nothing to say about waiting between ranks."),
              kIndent, kIndent);
    return;
  }
  const std::string all = format_duration(totals.communication_ns);
  Line line;
  const bool told = totals.waits_known && !leaves_waiting_open(report, totals);
  if (told && report.waits_blurred_ns > 0) {
    // Waits that are shorter than that were measured, and mean nothing.
    line.bold(fmt::format("{} of communication", all))
        .text(fmt::format("; how much of it is waiting can't be told: times are known to ±{}. ",
                          format_duration(report.waits_blurred_ns)));
  } else if (told) {
    line.bold(fmt::format("{} of {} of communication is waiting ({})", format_duration(totals.wait_ns), all,
                          format_share(totals.wait_ns, totals.communication_ns)))
        .text(describe_transfer(report, totals));
  } else {
    line.text(
        std::any_of(report.ranks.begin(), report.ranks.end(),
                    [](const RankReport& rank) { return rank.damaged; })
            ? fmt::format(
                  "Communication takes {}; without what is lost of the traces nobody can tell how much "
                  "of it is waiting. ",
                  all)
        : report.ranks_missing.empty() && report.ranks.size() > 1
            ? fmt::format("Communication takes {}; the ranks' operations do not match, so that nobody can "
                          "tell how much of it is waiting. ",
                          all)
            : fmt::format("Communication takes {}; without the other ranks' traces nobody can tell how much "
                          "of it is waiting. ",
                          all));
  }
  if (tells_communication_alone(report)) {
    page.wrap(line.text("How much of it compute hides is not known."), kIndent, kIndent);
    return;
  }
  line.text(
      fmt::format("Compute hides {} of it; {} is exposed",
                  totals.overlap_ns == 0 ? "none" : format_share(totals.overlap_ns, totals.communication_ns),
                  format_duration(totals.exposed_ns)));
  if (totals.waits_known && report.waits_blurred_ns == 0 && totals.exposed_wait_ns > 0)
    line.text(fmt::format(", {} of that waiting", format_duration(totals.exposed_wait_ns)));
  page.wrap(line.text("."), kIndent, kIndent);
}

// It hung or failed; or ranks stood somewhere when somebody ended it, and others waited for them.
bool tells_an_end(const Finding& finding) {
  return finding.alarm == Alarm::hang || finding.alarm == Alarm::failure || !finding.standings.empty();
}

// What stands behind `first` and costs more is brought about by it (diagnose/finding_order.h).
bool is_cause_of_more(const Report& report, const Finding& first) {
  return first.alarm == Alarm::none && std::ranges::any_of(report.findings, [&](const Finding& other) {
           return other.severity != "note" && other.share != Share::of_run && other.lost_ns > first.lost_ns;
         });
}

const char* lead_to(const Report& report, const Finding& finding, bool note_costs_more) {
  // How the job ended stands above it.
  const bool ended_badly = std::any_of(report.findings.begin(), report.findings.end(), tells_an_end);
  if (is_cause_of_more(report, finding))
    return report.some_ranks_only ? "In the whole job, start with this: "
           : ended_badly          ? "Of the time before that, start with this: "
                                  : "Start with this: ";
  return report.some_ranks_only ? "Costs the whole job most: "
         : ended_badly          ? "Of the time before that, what costs most: "
         : note_costs_more      ? "Costs most of what can be blamed: "
                                : "Costs most: ";
}

// The greatest loss, or what brings it about, before anything else that was measured; where all are notes,
// that is said.
void print_greatest_loss(const Report& report, Page& page) {
  constexpr double kMuch = 0.03;
  const Finding* note = nullptr;
  for (const Finding& finding : report.findings) {
    if (finding.lost_ns <= 0) continue;
    if (finding.severity == "note") {
      if (note == nullptr) note = &finding;
      continue;
    }
    // A note blames nobody, whatever it costs, and stands behind who is blamed.
    const bool note_costs_more = std::ranges::any_of(report.findings, [&](const Finding& other) {
      return other.severity == "note" && other.share != Share::of_run && other.lost_ns > finding.lost_ns;
    });
    // The title's share of a step is another figure. Two brackets in a row would be one too many.
    const bool says_share = finding.title.find(" of each step") != std::string::npos;
    const std::string share =
        format_share(finding.lost_share) + (says_share ? " of all time" : of_what(finding.share)) +
        (start_up_in_steps_ns(report) > 0 ? ", start-up within these steps included" : "");
    page.wrap(
        Line{}
            .text(lead_to(report, finding, note_costs_more))
            .bold(printable(finding.title))
            .text(finding.title.ends_with(')') ? fmt::format(": {}.", share) : fmt::format(" ({}).", share)),
        kIndent, kIndent);
    return;
  }
  // What may hide everything else, though nobody knows how much it costs.
  for (const Finding& finding : report.findings) {
    if (finding.severity == "note" || finding.alarm != Alarm::none) continue;
    std::string title = printable(finding.title);
    if (!title.empty() && title.front() >= 'a' && title.front() <= 'z')
      title.front() = static_cast<char>(title.front() - ('a' - 'A'));
    page.wrap(Line{}.bold(title + "."), kIndent, kIndent);
    return;
  }
  if (note != nullptr && note->lost_share >= kMuch) {
    page.wrap(Line{}
                  .text(report.some_ranks_only ? "In the whole job nothing is at fault; costs most: "
                                               : "Nothing is at fault; costs most: ")
                  .bold(printable(note->title))
                  .text(fmt::format(" ({}{}).", format_share(note->lost_share), of_what(note->share))),
              kIndent, kIndent);
    return;
  }
  const bool nothing = std::all_of(report.findings.begin(), report.findings.end(),
                                   [](const Finding& finding) { return finding.severity == "note"; });
  if (nothing && !why_no_all_clear(report))
    page.wrap(Line{}.bold("Nothing was found that costs much").text(": no loss is worth more than a note."),
              kIndent, kIndent);
}

// How the job ended, if badly: whatever else is said, this comes first. What comes before it is its cause: a
// device that stands still, ranks that disagree.
void print_end(const Report& report, Page& page) {
  auto left = std::count_if(report.findings.begin(), report.findings.end(), tells_an_end);
  for (const Finding& finding : report.findings) {
    const bool ends = tells_an_end(finding);
    if (!ends && (left == 0 || finding.alarm == Alarm::none)) continue;
    left -= ends ? 1 : 0;
    std::string sentence = printable(finding.title);
    if (!sentence.empty() && sentence.front() >= 'a' && sentence.front() <= 'z')
      sentence.front() = static_cast<char>(sentence.front() - 'a' + 'A');
    page.wrap(Line{}.bold(sentence).text("."), kIndent, kIndent);
  }
}

void print_verdict(const Report& report, const TextOptions& /*options*/, Page& page) {
  page.blank();
  if (report.ranks.empty()) {
    page.wrap(Line{}.bold("No rank could be analysed").text("; the reasons stand below."), kIndent, kIndent);
    return;
  }
  print_end(report, page);
  const Totals totals = totals_of(report);
  if (totals.window_ns == 0) {
    print_unknown(report, page);
    return;
  }
  print_reservations(report, totals, page);
  print_greatest_loss(report, page);
  print_budget(report, totals, page);
  print_communication(report, totals, page);
  print_blame(report, totals, page);
}

}  // namespace

constinit const ReportSection sections::verdict{
    .id = "verdict",
    .title = "",
    .on_page = "verdict",
    .json = {},
    .print = print_verdict,
};

}  // namespace lockstep::analyzer

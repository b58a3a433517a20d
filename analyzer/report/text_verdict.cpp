#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyzer/report/quantity.h"
#include "analyzer/report/text_sections.h"
#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kIndent = 2;

// "a, b and c"
Line enumerate(const std::vector<Line>& items) {
  Line line;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) line.text(i + 1 == items.size() ? " and " : ", ");
    line.add(items[i]);
  }
  return line;
}

// Where the ranks' time goes: compute, and the greatest losses.
void print_budget(const Totals& totals, Page& page) {
  std::vector<Cause> losses;
  for (std::size_t i = 1; i < kCauseCount; ++i) losses.push_back(static_cast<Cause>(i));
  std::stable_sort(losses.begin(), losses.end(),
                   [&](Cause a, Cause b) { return totals.partition[a] > totals.partition[b]; });
  std::vector<Line> items;
  for (const Cause cause : losses) {
    const std::int64_t ns = totals.partition[cause];
    // A twentieth of the time is worth a word; the greatest loss always is.
    if (ns == 0 || items.size() == 3 || (!items.empty() && ns < totals.window_ns / 20)) break;
    items.push_back(
        Line{}.cause(style_of(cause).label, cause).text(" ").bold(format_share(ns, totals.window_ns)));
  }
  Line line;
  line.text("Ranks compute for ")
      .bold(format_share(totals.partition[Cause::compute], totals.window_ns))
      .text(" of their time");
  if (items.empty()) {
    line.text(".");
  } else {
    line.text("; the rest is mostly ").add(enumerate(items)).text(".");
  }
  page.wrap(line, kIndent, kIndent);
}

void print_communication(const Report& report, const Totals& totals, Page& page) {
  if (totals.communication_ns == 0) {
    page.wrap(Line{}.bold("No communication found").text(": nothing to say about waiting between ranks."),
              kIndent, kIndent);
    return;
  }
  const std::string all = format_duration(totals.communication_ns);
  Line line;
  if (report.ranks.size() > 1) {
    line.bold(fmt::format("{} of {} of communication is waiting ({})", format_duration(totals.wait_ns), all,
                          format_share(totals.wait_ns, totals.communication_ns)))
        .text(fmt::format("; {} moves data. ", format_duration(totals.communication_ns - totals.wait_ns)));
  } else {
    line.text(fmt::format(
        "Communication takes {}; with one rank alone nobody can tell how much of it is waiting. ", all));
  }
  line.text(
      fmt::format("Compute hides {} of it; {} is exposed.",
                  totals.overlap_ns == 0 ? "none" : format_share(totals.overlap_ns, totals.communication_ns),
                  format_duration(totals.exposed_ns)));
  page.wrap(line, kIndent, kIndent);
}

void print_blame(const Report& report, const Totals& totals, Page& page) {
  if (report.ranks.size() < 2 || totals.communication_ns == 0) return;
  std::vector<Line> items;
  std::size_t blamed = 0;
  for (const BlameReport& blame : report.blame) {
    if (blame.blame_ns <= 0) continue;
    ++blamed;
    if (items.size() == 3) continue;
    Line item;
    item.bold(fmt::format("rank {}", blame.rank)).text(" (" + format_duration(blame.blame_ns));
    if (blame.collectives > 0) {
      item.text(" in " + (items.empty() ? format_plural(blame.collectives, "collective")
                                        : format_count(blame.collectives)));
    }
    items.push_back(item.text(")"));
  }
  if (blamed == 0) {
    page.wrap(Line{}.text("No rank is waited for longer than the clocks can tell."), kIndent, kIndent);
    return;
  }
  if (blamed > items.size()) {
    items.push_back(
        Line{}.text(format_plural(static_cast<std::int64_t>(blamed - items.size()), "more rank")));
  }
  page.wrap(Line{}.text("The others wait for ").add(enumerate(items)).text("."), kIndent, kIndent);
  const BlameReport& first = report.blame.front();
  if (!first.root_cause.empty()) {
    page.wrap(Line{}.text(fmt::format("Why rank {} is late: ", first.rank)).text(printable(first.root_cause)),
              kIndent, kIndent);
  }
}

}  // namespace

void print_verdict(const Report& report, Page& page) {
  page.blank();
  if (report.ranks.empty()) {
    page.wrap(Line{}.bold("No rank could be analysed").text("; the reasons stand below."), kIndent, kIndent);
    return;
  }
  const Totals totals = totals_of(report);
  if (totals.window_ns == 0) {
    page.wrap(Line{}.bold("No device activity found").text(": there is nothing to measure."), kIndent,
              kIndent);
    return;
  }
  print_budget(totals, page);
  print_communication(report, totals, page);
  print_blame(report, totals, page);
}

}  // namespace lockstep::analyzer

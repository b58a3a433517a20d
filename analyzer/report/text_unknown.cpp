// What is not known, and why.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "analyzer/model/operation.h"
#include "analyzer/report/absences.h"
#include "analyzer/report/report_sections.h"
#include "analyzer/report/text_sections.h"
#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kMaxUnknowns = 12;

// What a reader of the text has to know beside the warnings; the rest of the absences is for readers of the
// JSON.
bool matters_to_people(const Warning& absence) {
  return absence.code == "absent_bytes" || absence.code == "absent_bubble_ratio";
}

// The n-th send from one rank to another meets the n-th receive there: messages are matched so by definition.
bool is_message_of_a_group(const CollectiveReport& c) {
  return !c.group_name.empty() && is_point_to_point(c.operation);
}

// Matching by order of time alone can be wrong where operations are missing.
std::string matched_by_order(const Report& report) {
  const auto count =
      std::count_if(report.collectives.begin(), report.collectives.end(), [](const CollectiveReport& c) {
        return c.evidence.starts_with("order") && c.ranks.size() > 1 && !is_message_of_a_group(c);
      });
  if (count == 0) return "";
  return fmt::format(
      "{} of {} collectives matched by their order alone: the trace lacks their group or sequence number",
      count, report.collectives.size());
}

}  // namespace

std::vector<std::string> unknown_lines(const Report& report) {
  std::vector<std::string> unknowns;
  for (const Warning& warning : report.warnings) unknowns.push_back(warning.message);
  if (const std::string orders = matched_by_order(report); !orders.empty()) unknowns.push_back(orders);
  for (const Warning& absence : explain_absences(report)) {
    if (matters_to_people(absence)) unknowns.push_back(absence.message);
  }
  return unknowns;
}

namespace {

void print_unknowns(const Report& report, const TextOptions& /*options*/, Page& page) {
  const std::vector<std::string> unknowns = unknown_lines(report);
  if (unknowns.empty()) return;
  print_heading(page, sections::unknown.title);
  std::size_t shown = 0;
  for (const std::string& unknown : unknowns) {
    if (shown++ == kMaxUnknowns) {
      page.add(Line{}.text("  ").dim(fmt::format("… {} more: --json FILE", unknowns.size() - kMaxUnknowns)));
      break;
    }
    page.wrap(Line{}.text("· ").text(printable(unknown)), 2, 4);
  }
}

constexpr auto kTextUnknownMembers = std::to_array<std::string_view>({"warnings"});

}  // namespace

constinit const ReportSection sections::unknown{
    .id = "unknown",
    .title = "not known",
    .on_page = "unknown",
    .json = kTextUnknownMembers,
    .print = print_unknowns,
};

}  // namespace lockstep::analyzer

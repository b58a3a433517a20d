#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "analyzer/report/quantity.h"
#include "analyzer/report/report_sections.h"
#include "analyzer/report/shared_time.h"
#include "analyzer/report/text_sections.h"
#include "analyzer/report/unicode.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

// Each once, in the order of the findings; the first few.
std::vector<std::string> codes_of(const std::vector<Finding>& findings) {
  constexpr std::size_t kMaxCodes = 4;
  std::vector<std::string> codes;
  for (const Finding& finding : findings)
    if (codes.size() < kMaxCodes && std::find(codes.begin(), codes.end(), finding.code) == codes.end())
      codes.push_back(finding.code);
  return codes;
}

}  // namespace

std::string describe(const FindingPlace& place) {
  std::string text = fmt::format("to see: rank {}", place.rank);
  if (place.step) text += fmt::format(", step {}", *place.step);
  if (place.collective) text += fmt::format(", collective #{}", *place.collective);
  const std::string length = format_duration(place.end_ns - place.begin_ns);
  if (place.begin_ns >= 0)
    return text + fmt::format(", from {} on for {}", format_duration(place.begin_ns), length);
  return text + fmt::format(", from {} before the first activity on for {}",
                            format_duration(saturating_length(place.begin_ns, 0)), length);
}

namespace {

// Where a rank computes longer: time a step of each part of the model, beside the other ranks'.
void print_parts(const Finding& finding, Page& page) {
  const ComparedParts& parts = finding.parts;
  if (parts.rows.empty() || parts.steps <= 0 || !finding.rank) return;
  const bool has_operators = std::any_of(parts.rows.begin(), parts.rows.end(), [](const ComparedPart& row) {
    return !row.module.empty() && !row.operation.empty();
  });
  std::vector<Column> columns{{"time a step in", false, 0},
                              {fmt::format("rank {}", *finding.rank), true, 0},
                              {parts.others == 1 ? "other rank" : "other ranks", true, 0},
                              {"difference", true, 0}};
  if (has_operators) columns.push_back({"above all in", false, 1});
  Table table(columns);
  for (const ComparedPart& row : parts.rows) {
    std::vector<Line> cells{Line{}.text(fit(printable(name_of(row, parts)), 40, page.options().ascii)),
                            duration_cell(row.own_ns / parts.steps),
                            duration_cell(row.others_ns / parts.steps),
                            Line{}.text(describe_difference(row, parts))};
    if (has_operators)
      cells.push_back(
          Line{}.text(row.module.empty() ? "" : fit(printable(row.operation), 30, page.options().ascii)));
    table.add_row(std::move(cells));
  }
  table.print(page, 6);
}

void print_findings(const Report& report, const TextOptions& options, Page& page) {
  if (report.findings.empty()) return;
  print_heading(page, sections::findings.title,
                options.restricted
                    ? "of the whole job, not of what was chosen; shares are of all ranks' time together"
                    : "shares are of all ranks' time together");
  // The verdict has said it.
  const std::vector<const BlameReport*> late = late_ranks(report);
  const std::string said = late.empty() ? "" : "why: " + late.front()->root_cause;
  int number = 0;
  for (const Finding& finding : report.findings) {
    Line title;
    title.bold(fmt::format("{}. ", ++number)).bold(printable(finding.title));
    if (finding.lost_ns > 0) {
      title.text(fmt::format(" — {} lost ({}{})", format_duration(finding.lost_ns),
                             format_share(finding.lost_share), of_what(finding.share)));
      if (const std::string shared = describe_shared_time(report, finding); !shared.empty())
        title.dim(", " + shared);
    }
    page.wrap(title, 2, 4);
    for (const std::string& evidence : finding.evidence) {
      if (evidence != said) page.wrap(Line{}.dim("· ").dim(printable(evidence)), 4, 6);
    }
    print_parts(finding, page);
    if (finding.place) page.wrap(Line{}.dim("· ").dim(describe(*finding.place)), 4, 6);
    if (!finding.remedy.empty()) {
      page.wrap(Line{}.text(page.options().ascii ? "-> " : "→ ").text(printable(finding.remedy)), 4, 6);
    }
  }
  page.wrap(Line{}.dim(fmt::format("lockstep explain {}: how this was found, and what would show it wrong",
                                   fmt::join(codes_of(report.findings), " "))),
            2, 4);
}

constexpr auto kTextFindingsMembers = std::to_array<std::string_view>({"findings"});

}  // namespace

constinit const ReportSection sections::findings{
    .id = "findings",
    .title = "findings",
    .on_page = "findings",
    .json = kTextFindingsMembers,
    .print = print_findings,
};

}  // namespace lockstep::analyzer

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
    if (finding.place) page.wrap(Line{}.dim("· ").dim(describe(*finding.place)), 4, 6);
    if (!finding.remedy.empty()) {
      page.wrap(Line{}.text(page.options().ascii ? "-> " : "→ ").text(printable(finding.remedy)), 4, 6);
    }
  }
  page.wrap(Line{}.dim(fmt::format("lockstep explain {}: how this was found, and what would show it wrong",
                                   fmt::join(codes_of(report.findings), " "))),
            2, 4);
}

constexpr auto kMembers = std::to_array<std::string_view>({"findings"});

}  // namespace

constinit const ReportSection sections::findings{
    .id = "findings",
    .title = "findings",
    .on_page = "findings",
    .json = kMembers,
    .print = print_findings,
};

}  // namespace lockstep::analyzer

#include "analyzer/report/whole_run.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::analyzer {

std::string why_not_whole(const Report& report) {
  for (const Finding& finding : report.findings)
    if (finding.alarm != Alarm::none && finding.alarm != Alarm::mismatch) return finding.title;
  for (const RankReport& rank : report.ranks)
    if (rank.damaged) return fmt::format("the file of rank {} is damaged", rank.rank);
  const bool damaged = std::ranges::any_of(
      report.warnings, [](const Warning& warning) { return warning.code == "file_damaged"; });
  return damaged ? "files are damaged, or were not finished: it may have been killed, or be running still"
                 : "";
}

}  // namespace lockstep::analyzer

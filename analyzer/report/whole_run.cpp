#include "analyzer/report/whole_run.h"

#include <fmt/format.h>

#include "analyzer/model/warns_of.h"

namespace lockstep::analyzer {

std::string why_not_whole(const Report& report) {
  for (const Finding& finding : report.findings)
    if (finding.alarm != Alarm::none && finding.alarm != Alarm::mismatch) return finding.title;
  for (const RankReport& rank : report.ranks)
    if (rank.damaged) return fmt::format("the file of rank {} is damaged", rank.rank);
  return warns_of(report.warnings, "file_damaged")
             ? "files are damaged, or were not finished: it may have been killed, or be running still"
             : "";
}

}  // namespace lockstep::analyzer

#include "analyzer/report/whole_run.h"

#include <fmt/format.h>

#include "analyzer/model/warns_of.h"

namespace lockstep::analyzer {
namespace {

bool is_of_an_end(const Finding& finding) {
  return (finding.alarm != Alarm::none && finding.alarm != Alarm::mismatch) ||
         finding.topic == Topic::interrupted;
}

}  // namespace

std::string why_not_whole(const Report& report) {
  for (const Finding& finding : report.findings)
    if (is_of_an_end(finding)) return finding.title;
  for (const RankReport& rank : report.ranks)
    if (rank.damaged) return fmt::format("the file of rank {} is damaged", rank.rank);
  return warns_of(report.warnings, "file_damaged")
             ? "files are damaged, or were not finished: it may have been killed, or be running still"
             : "";
}

}  // namespace lockstep::analyzer

#include "analyzer/report/all_clear.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyzer/model/warns_of.h"
#include "analyzer/report/text_sections.h"

namespace lockstep::analyzer {
namespace {

bool is_damaged(const Report& report) {
  return warns_of(report.warnings, "file_damaged") || warns_of(report.warnings, "file_incomplete") ||
         std::any_of(report.ranks.begin(), report.ranks.end(),
                     [](const RankReport& rank) { return rank.damaged; });
}

// Of a report in which nothing has a length.
NoAllClear why_nothing_is_measured(const Report& report) {
  if (warns_of(report.warnings, "nothing_recorded"))
    return {"Nothing was recorded",
            ": what was asked for (--steps, --delay, --duration, --sources) did not come to pass, or "
            "--max-size left no room."};
  if (warns_of(report.warnings, "order_only"))
    return {"No times were recorded",
            ": a flight recorder tells the order of operations, and which of them had not ended."};
  if (is_damaged(report))
    return {"Nothing measurable was recorded, or is left",
            ": no computation and no communication; the traces are cut or damaged, which may be why."};
  return {"No device activity found",
          ": there is nothing to measure. Needed are GPU kernels (a PyTorch profiler trace) or the "
          "compute and collective ranges of docs/instrumentation.md."};
}

}  // namespace

std::optional<NoAllClear> why_no_all_clear(const Report& report) {
  if (report.ranks.empty()) return NoAllClear{"No rank could be analysed", "."};
  if (totals_of(report).window_ns == 0) return why_nothing_is_measured(report);
  if (tells_communication_alone(report))
    return NoAllClear{"Flight recorders tell of communication alone",
                      ": what ranks computed beside it, and what costs their time, is not known."};
  if (all_known(report)) return std::nullopt;
  std::vector<std::int32_t> unknown;
  for (const RankReport& rank : report.ranks)
    if (!rank.measures.known) unknown.push_back(rank.rank);
  return NoAllClear{fmt::format("There are no figures of {}", name_ranks(unknown)),
                    fmt::format(": what costs {} time is not known.", unknown.size() == 1 ? "it" : "them")};
}

}  // namespace lockstep::analyzer

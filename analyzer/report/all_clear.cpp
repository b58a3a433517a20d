#include "analyzer/report/all_clear.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "analyzer/report/text_sections.h"

namespace lockstep::analyzer {
namespace {

bool is_said(const Report& report, std::initializer_list<std::string_view> codes) {
  return std::any_of(report.warnings.begin(), report.warnings.end(), [&](const Warning& warning) {
    return std::find(codes.begin(), codes.end(), warning.code) != codes.end();
  });
}

bool is_damaged(const Report& report) {
  return is_said(report, {"file_damaged", "file_incomplete"}) ||
         std::any_of(report.ranks.begin(), report.ranks.end(),
                     [](const RankReport& rank) { return rank.damaged; });
}

// Of a report in which nothing has a length.
NoAllClear why_nothing_is_measured(const Report& report) {
  if (is_said(report, {"nothing_recorded"}))
    return {"Nothing was recorded",
            ": what was asked for (--steps, --delay, --duration, --sources) did not come to pass, or "
            "--max-size left no room."};
  if (is_said(report, {"order_only"}))
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

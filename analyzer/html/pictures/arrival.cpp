// The arrivals of the ranks at the operation where the finding is seen best; the accused rank came last.
#include "analyzer/html/picture.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer::pictures {
namespace {

std::optional<std::size_t> collective_of(const Finding& finding, const Report& report) {
  if (!finding.place || !finding.place->collective) return std::nullopt;
  for (std::size_t i = 0; i < report.collectives.size(); ++i)
    if (report.collectives[i].id == *finding.place->collective) return i;
  return std::nullopt;
}

std::optional<PictureData> data_of(const PictureContext& context) {
  const std::optional<std::size_t> worst = collective_of(context.finding, context.report);
  if (!worst || !context.finding.rank) return std::nullopt;
  return PictureData{.collective = worst, .members = {{"rank", *context.finding.rank}}};
}

}  // namespace

extern const Picture arrival;
const Picture arrival{.name = "arrival", .data = data_of};

}  // namespace lockstep::analyzer::pictures

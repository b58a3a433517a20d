// How much of each rank's time the finding's cause takes: what is drawn where there is nothing else.
#include "analyzer/html/picture.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer::pictures {
namespace {

std::optional<PictureData> data_of(const PictureContext& context) {
  if (!context.finding.cause) return std::nullopt;
  return PictureData{};
}

}  // namespace

extern const Picture cause;
const Picture cause{.name = "cause", .data = data_of};

}  // namespace lockstep::analyzer::pictures

// The ranks' compute, step by step: the page has all that it takes.
#include "analyzer/html/picture.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer::pictures {
namespace {

std::optional<PictureData> data_of(const PictureContext& context) {
  if (context.report.steps.empty()) return std::nullopt;
  return PictureData{};
}

}  // namespace

extern const Picture batches;
const Picture batches{.name = "batches", .data = data_of};

}  // namespace lockstep::analyzer::pictures

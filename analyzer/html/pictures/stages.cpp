// The compute of each stage of the accused rank's pipeline.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "analyzer/html/picture.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer::pictures {
namespace {

std::optional<std::size_t> pipeline_with(const Report& report, std::int32_t rank) {
  for (std::size_t i = 0; i < report.pipeline.size(); ++i) {
    const std::vector<PipelineStage>& stages = report.pipeline[i].stages_detail;
    if (std::any_of(stages.begin(), stages.end(),
                    [rank](const PipelineStage& stage) { return stage.rank == rank; }))
      return i;
  }
  return std::nullopt;
}

std::optional<PictureData> data_of(const PictureContext& context) {
  const std::optional<std::int32_t>& rank = context.finding.rank;
  if (!rank) return std::nullopt;
  const std::optional<std::size_t> pipeline = pipeline_with(context.report, *rank);
  if (!pipeline) return std::nullopt;
  return PictureData{.collective = std::nullopt, .members = {{"rank", *rank}, {"pipeline", *pipeline}}};
}

}  // namespace

extern const Picture stages;
const Picture stages{.name = "stages", .data = data_of};

}  // namespace lockstep::analyzer::pictures

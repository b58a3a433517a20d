// How long each rank's training threads waited for a core.
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/html/picture.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer::pictures {
namespace {

std::optional<PictureData> data_of(const PictureContext& context) {
  std::vector<std::tuple<std::int32_t, std::int64_t, std::int64_t>> waits;  // rank, waited, window
  for (const RankReport& rank : context.report.ranks) {
    const Measures& measures = rank.measures;
    if (!measures.known || !measures.run_queue_ns || measures.window_ns <= 0) continue;
    waits.emplace_back(rank.rank, *measures.run_queue_ns, measures.window_ns);
  }
  if (waits.empty()) return std::nullopt;
  return PictureData{.collective = std::nullopt, .members = {{"waits", std::move(waits)}}};
}

}  // namespace

extern const Picture core_waits;
const Picture core_waits{.name = "core_waits", .data = data_of};

}  // namespace lockstep::analyzer::pictures

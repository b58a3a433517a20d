#include "viewer/views/range_figures.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/report/measure_fields.h"

namespace lockstep::viewer {

namespace {

using analyzer::Cause;
using analyzer::MeasureField;
using analyzer::Measures;

std::vector<RangeFigure> list_figures() {
  std::vector<RangeFigure> figures;
  for (const MeasureField& field : analyzer::measure_fields()) {
    if (field.is_time())
      figures.push_back(
          {field.key, field.meaning, [&field](const Measures& m) { return time_of(field, m); }});
  }
  const auto add = [&figures](std::string name, const char* what, auto ns_of) {
    figures.push_back({std::move(name), what, [ns_of](const Measures& m) {
                         return m.known ? std::optional<std::int64_t>(ns_of(m.partition)) : std::nullopt;
                       }});
  };
  add("compute_over_communication_ns", "what of the cause compute hides communication",
      [](const analyzer::Partition& partition) { return partition.compute_over_communication_ns; });
  for (std::size_t i = 0; i < analyzer::kCauseCount; ++i) {
    const auto cause = static_cast<Cause>(i);
    add(fmt::format("partition.{}", to_string(cause)), "cause of these instants: each has one",
        [cause](const analyzer::Partition& partition) { return partition[cause]; });
  }
  return figures;
}

}  // namespace

std::span<const RangeFigure> range_figures() {
  static const std::vector<RangeFigure> kFigures = list_figures();
  return kFigures;
}

}  // namespace lockstep::viewer

#include "analyzer/report/json_findings.h"

#include "analyzer/report/json_measures.h"

namespace lockstep::analyzer {

using Json = nlohmann::ordered_json;

Json place_to_json(const std::optional<FindingPlace>& place) {
  if (!place) return nullptr;
  return {{"rank", place->rank},
          {"step", optional(place->step)},
          {"collective", optional(place->collective)},
          {"begin_ns", place->begin_ns},
          {"end_ns", place->end_ns}};
}

Json parts_to_json(const ComparedParts& parts, const std::function<Json(const std::string&)>& text) {
  if (parts.rows.empty()) return nullptr;
  Json rows = Json::array();
  for (const ComparedPart& row : parts.rows)
    rows.push_back({{"module", row.module.empty() ? Json(nullptr) : text(row.module)},
                    {"operation", row.operation.empty() ? Json(nullptr) : text(row.operation)},
                    {"is_rest", row.is_rest},
                    {"own_ns", row.own_ns},
                    {"others_ns", row.others_ns}});
  return {{"steps", parts.steps}, {"others", parts.others}, {"rows", std::move(rows)}};
}

}  // namespace lockstep::analyzer

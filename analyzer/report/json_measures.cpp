#include "analyzer/report/json_measures.h"

#include <type_traits>
#include <variant>

#include "analyzer/report/measure_fields.h"
#include "analyzer/report/measure_words.h"

namespace lockstep::analyzer {

using Json = nlohmann::ordered_json;

namespace {

Json to_json(const Partition& partition) {
  Json object;
  for (std::size_t i = 0; i < kCauseCount; ++i) object[to_string(static_cast<Cause>(i))] = partition.ns[i];
  return object;
}

}  // namespace

// A figure that is not known is null, never 0; explain_absences() says why.
void add_measures(Json& object, const Measures& m) {
  for (const MeasureField& field : measure_fields())
    object[field.key] = std::visit(
        [](const auto& value) {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
            return Json(nullptr);
          else
            return Json(value);
        },
        value_of(field, m));
  // Beside the partition, not in it: the partition's nine members sum to the window.
  object["compute_over_communication_ns"] =
      m.known ? Json(m.partition.compute_over_communication_ns) : Json(nullptr);
  object["partition"] = m.known ? to_json(m.partition) : Json(nullptr);
}

Json theory_to_json(const TheoryReport& row) {
  return {{"quantity", quantity_name(row.quantity)},
          {"scope", scope_text(row)},
          {"unit", unit_of(row.quantity)},
          {"measured", optional(row.measured)},
          {"theory", row.theory},
          {"formula", formula_text(row.formula)}};
}

}  // namespace lockstep::analyzer

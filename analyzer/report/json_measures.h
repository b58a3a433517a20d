// Measures as JSON, as every document of the project writes them. Internal to this library.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// null where absent or not finite.
template <class T>
nlohmann::ordered_json optional(const std::optional<T>& value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (value && !std::isfinite(*value)) return nullptr;
  }
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

void add_measures(nlohmann::ordered_json& object, const Measures& measures);
nlohmann::ordered_json theory_to_json(const TheoryReport& row);

}  // namespace lockstep::analyzer

// What a finding points to, as JSON. Internal to this library.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

nlohmann::ordered_json place_to_json(const std::optional<FindingPlace>& place);
// null where no parts are compared. `text` makes valid UTF-8 of a name.
nlohmann::ordered_json parts_to_json(const ComparedParts& parts,
                                     const std::function<nlohmann::ordered_json(const std::string&)>& text);

}  // namespace lockstep::analyzer

// The account of the run and the choice of steady steps as JSON. Internal to this library.
#pragma once

#include <nlohmann/json.hpp>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

nlohmann::ordered_json account_to_json(const AccountReport& account);
// Without its ranks; null where no steps were chosen.
nlohmann::ordered_json steady_to_json(const std::optional<SteadyReport>& steady);

}  // namespace lockstep::analyzer

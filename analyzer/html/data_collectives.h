// The page's data of collectives. Internal.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "analyzer/html/evidence.h"
#include "analyzer/html/group_numbers.h"
#include "analyzer/html/html.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

// Which of the report's collectives the page has, in its order (the text report's), and of which of them the
// arrivals of all ranks.
struct ShownCollectives {
  std::vector<std::size_t> order;             // indices into report.collectives
  std::vector<bool> arrivals;                 // as `order`
  std::map<std::size_t, std::size_t> row_of;  // from the index in the report
};
// Those that most is waited in, and those that are drawn beside a finding.
ShownCollectives shown_collectives(const Report& report, const std::vector<DrawnEvidence>& evidence,
                                   const HtmlOptions& options);

nlohmann::ordered_json collectives_json(const Report& report, const ShownCollectives& shown,
                                        const GroupNumbers& groups);

}  // namespace lockstep::analyzer

// The page's data of groups and collectives. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/html/html.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

// Process groups by number, so that the page names each once: two groups can have one name, and two names the
// same ranks.
class GroupNumbers {
 public:
  explicit GroupNumbers(const Report& report);
  std::size_t of(const std::string& name, const std::vector<std::int32_t>& ranks) const {
    return numbers_.at({name, ranks});
  }
  nlohmann::ordered_json to_json() const;  // [{name, ranks}]

 private:
  void add(const std::string& name, const std::vector<std::int32_t>& ranks);

  std::map<std::pair<std::string, std::vector<std::int32_t>>, std::size_t> numbers_;
};

// Which of the report's collectives the page has, in its order (the text report's), and of which of them the
// arrivals of all ranks.
struct ShownCollectives {
  std::vector<std::size_t> order;             // indices into report.collectives
  std::vector<bool> arrivals;                 // as `order`
  std::map<std::size_t, std::size_t> row_of;  // from the index in the report
};
// Those that most is waited in, and those that a finding is about.
ShownCollectives shown_collectives(const Report& report, const HtmlOptions& options);

nlohmann::ordered_json collectives_json(const Report& report, const ShownCollectives& shown,
                                        const GroupNumbers& groups);

}  // namespace lockstep::analyzer

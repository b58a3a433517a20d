// The page's numbers of process groups. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

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

}  // namespace lockstep::analyzer

// What must sum to what in the JSON of a report or of a range, whatever was recorded: of a command's report
// the tests see no more than that (analyzer/report_invariants.h is the same for reports made within a test).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep::end_to_end {

// What does not hold, a line each; empty where all does. `document`: lockstep.report or lockstep.range.
std::vector<std::string> broken_sums(const nlohmann::json& document);

// Looks at `text` if it is such a document and does nothing if it is anything else. run() does so with all
// that the commands of tests write. Throws std::runtime_error, which fails the test, where a sum does not
// hold.
void require_exact_sums(const std::string& text);

}  // namespace lockstep::end_to_end

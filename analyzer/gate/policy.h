// What a gate asks of a run: which figures, which way, by how much, how sure. Written as TOML
// (docs/check.md); no code in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/comparison/zone.h"
#include "analyzer/figures/figure.h"
#include "base/result.h"

namespace lockstep::analyzer {

// A figure held to a baseline, or to a bound.
struct Rule {
  const FigureKind* figure = nullptr;
  std::string scope;            // of the job: ""
  std::optional<double> bound;  // absent: held to the baseline
  Tolerance tolerance;
  double weight = 1;         // above 0
  std::string name() const;  // "step_time", "busbw of group dp all_reduce"
};

// A regression that is known: it is said, and does not fail, until the day is over.
struct Expected {
  std::string figure, scope;
  std::string reason;
  std::string until;  // "2026-12-31"
  bool stands_for(const Rule& rule) const;
  std::string name() const;  // as Rule::name()
};

struct Policy {
  std::string source;          // its file; "the default policy"
  double false_alarms = 0.01;  // of the whole policy, by chance, on a healthy change
  double confidence = 0.95;    // that a figure within its tolerance is within it
  std::vector<Rule> rules;
  std::vector<Expected> expected;
};

// Step time, throughput's counterpart in waiting and exposure, and efficiency; 3 % each.
Policy default_policy();

// Errors name `source`, line, key and value, what it may be and, of a name, the nearest that there is.
Result<Policy> parse_policy(std::string_view text, const std::string& source);

// A commented policy, that of default_policy(), to begin with.
std::string commented_policy();

}  // namespace lockstep::analyzer

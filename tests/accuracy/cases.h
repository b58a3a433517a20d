// Where each kind of finding is planted, so that the suite counts whether it is found: a file of planted/ for
// each rule of analyzer/diagnose/finding_rules.def, under its name.
#pragma once

#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/model/job.h"
#include "tests/accuracy/noise.h"
#include "tests/accuracy/simulate.h"

namespace lockstep::accuracy {

// A hand-made job in which a finding has to be found.
struct KindCase {
  std::string_view code;
  // Durations and sizes vary with `random` by up to a fifth.
  analyzer::Job (*make)(Random& random);
  // Of its row among the others', in results and in docs/accuracy.md. Rows without one come last, by code.
  int place = std::numeric_limits<int>::max();
  // What tells it, where the kind has another case with other evidence.
  std::string_view evidence = {};
};

// A finding about who is late: no hand-made job has it, but simulated ones that a fault is planted in.
struct SimulatedKind {
  std::string_view code;
  Fault fault = Fault::none;
};

// What is planted of the kinds of one rule.
struct Planted {
  std::span<const KindCase> cases = {};
  std::span<const SimulatedKind> simulated = {};
};

// Of all rules, in the order of their rows.
std::vector<KindCase> kind_cases();
// Of all rules, in the order of these.
std::vector<SimulatedKind> simulated_kinds();

namespace planted {

#define LOCKSTEP_FINDING_RULE(name) extern const Planted name;
#include "analyzer/diagnose/finding_rules.def"

}  // namespace planted

}  // namespace lockstep::accuracy

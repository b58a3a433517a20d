#include "tests/accuracy/cases.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace lockstep::accuracy {
namespace {

constexpr auto kPlanted = std::to_array<const Planted*>({
#define LOCKSTEP_FINDING_RULE(name) &planted::name,
#include "analyzer/diagnose/finding_rules.def"
});

}  // namespace

std::vector<KindCase> kind_cases() {
  std::vector<KindCase> all;
  for (const Planted* const of_rule : kPlanted)
    all.insert(all.end(), of_rule->cases.begin(), of_rule->cases.end());
  std::sort(all.begin(), all.end(), [](const KindCase& a, const KindCase& b) {
    return std::tie(a.place, a.code) < std::tie(b.place, b.code);
  });
  return all;
}

std::vector<SimulatedKind> simulated_kinds() {
  std::vector<SimulatedKind> all;
  for (const Planted* const of_rule : kPlanted)
    all.insert(all.end(), of_rule->simulated.begin(), of_rule->simulated.end());
  return all;
}

}  // namespace lockstep::accuracy

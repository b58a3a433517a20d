// Several figures judged at once: the chance that any healthy one is called worse stays what was promised for
// all together (S. Holm, 1979, with weights as in Y. Benjamini and Y. Hochberg, 1997).
#pragma once

#include <span>
#include <vector>

namespace lockstep::analyzer {

struct WeightedChance {
  double chance = 1;  // that a healthy figure looks as bad: a p-value
  double weight = 1;  // above 0; what weighs more is found with less
};

// By figure: the least rate of false alarms of all figures together at which this one is called worse; from
// its chance to 1.
std::vector<double> holm(std::span<const WeightedChance> figures);

}  // namespace lockstep::analyzer

// Of a quantity that is known of each rank in each step, as the cells of a step table: how ranks differ in
// it. kUnknownAmount stands for "not known" throughout, and counts nowhere.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "analyzer/lateness/step_table.h"

namespace lockstep::analyzer {

inline constexpr double kUnknownAmount = std::numeric_limits<double>::quiet_NaN();

// As many values as cells. Of each by how much it lies above the median of its step, less the median of
// that over the steps of its rank: what all ranks have in common in a step, or one rank has in all steps,
// does not count, and few steps do not shift the others. NaN where the value is NaN.
std::vector<double> deviations_in_turn(const StepTable& table, const std::vector<double>& values);

// How two quantities go together over ranks and steps, each as its deviations in turn. 0 where one of them
// does not vary.
struct Correlation {
  double of_values = 0;  // Pearson's: a few extreme cells may make it alone
  double of_ranks = 0;   // Spearman's: they do not
};
Correlation correlation_in_turn(const StepTable& table, const std::vector<double>& a,
                                const std::vector<double>& b);

// The median of the values but that at `own`; of an even number, between the two in the middle. NaN where all
// are. NaNs do not count.
double median_of_others(const std::vector<double>& values, std::size_t own);

// Of a rank (index), its mean over the steps that it is known of / the median of the others' means; absent
// where that is 0, or it is known of fewer than half of the steps.
std::optional<double> amount_beside_others(const StepTable& table, const std::vector<double>& amount,
                                           std::size_t rank);

}  // namespace lockstep::analyzer

// What becomes of runs of a program that did not change: whether they can be told to be within the tolerance.
#pragma once

#include <cstddef>

#include "analyzer/comparison/zone.h"

namespace lockstep::analyzer {

// So many times the deviation that `runs` runs show (two at least) the true one is at most, with
// `confidence`: of few runs it is hardly known.
double most_times_deviation(std::size_t runs, double confidence);

// The chance that other runs, as many of each side, are found within with `confidence`, where the true
// difference is the one seen and runs vary `times` as much as seen. By how much they will seem to vary is
// left open, as few runs leave it. A side has two runs at least, or no deviation.
double chance_within(const Excess& excess, double confidence, double times = 1);

}  // namespace lockstep::analyzer

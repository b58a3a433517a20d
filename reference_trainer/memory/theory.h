// How many bytes of parameters, gradients and optimizer state a rank holds, as the field counts them for
// mixed-precision Adam (Rajbhandari et al. 2020): 2 + 2 + 12 bytes a parameter, of which each way of sharing
// divides some by the number of ranks. In float32 they are 4 + 4 + 8, in float64 8 + 8 + 16.
#pragma once

#include <cstdint>
#include <string>

#include "reference_trainer/options/options.h"

namespace lockstep::trainer {

struct StateBytes {
  std::int64_t parameters = 0;
  std::int64_t gradients = 0;
  std::int64_t optimizer = 0;  // moments, and masters where compute has another precision
  std::int64_t total() const { return parameters + gradients + optimizer; }
};

struct BytesPerParameter {
  std::int64_t parameter, gradient, optimizer;
};
BytesPerParameter bytes_of(Precision precision);

// Over how many ranks each of them is divided; 1: every rank holds all of it.
struct StateShares {
  int parameters = 1, gradients = 1, optimizer = 1;
};

// `parameters`: elements of what this rank would hold of the model if nothing were divided.
StateBytes state_theory(std::int64_t parameters, Precision precision, const StateShares& shares);

// "memory: parameters 5.6 MB, gradients 11.1 MB, optimizer 22.2 MB of rank 0; together 38.9 MB, in
// theory 38.9 MB"
std::string describe(const StateBytes& measured, const StateBytes& theory);

}  // namespace lockstep::trainer

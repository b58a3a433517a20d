// Numbers and names the operations of a group in the order in which they are issued, and counts their traffic
// by what they are for.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <vector>

#include "reference_trainer/distributed/traffic.h"
#include "reference_trainer/instrumentation/annotations.h"

namespace lockstep::trainer {

// Not to be used by two threads at once: issuing and numbering are one step, which a lock of the user's
// guards.
class OperationNumbers {
 public:
  explicit OperationNumbers(std::uint64_t group) : group_(group) {}

  void set_purpose(Purpose purpose);
  Purpose purpose() const { return purpose_; }
  Traffic traffic(Purpose purpose) const { return traffic_[static_cast<std::size_t>(purpose)]; }

  // The next operation, over `tensors`; `bytes` of the larger side.
  annotations::Collective next(trace::Operation operation, const std::vector<at::Tensor>& tensors,
                               std::uint64_t bytes, std::int64_t peer = -1);
  // It has a number, and does not happen.
  void skip();

 private:
  std::uint64_t group_;
  std::uint64_t sequence_ = 0;
  Purpose purpose_ = Purpose::parameters;
  std::uint64_t issued_for_purpose_ = 0;
  std::array<Traffic, kPurposes> traffic_{};
};

std::uint64_t bytes_of(const std::vector<at::Tensor>& tensors);

}  // namespace lockstep::trainer

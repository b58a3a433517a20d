#include "tracer/inject/sources/pytorch/forwards_without_gradients.h"

#include <algorithm>
#include <utility>

namespace lockstep::tracer::pytorch {

void ForwardsWithoutGradients::forward(bool has_gradients, trace::Nanoseconds time) {
  if (has_gradients) return close();
  if (!has_trained_) return;  // trying out what was set up
  if (passes_++ == 0) open_ = {time, time};
  open_.end = std::max(open_.end, time);
}

void ForwardsWithoutGradients::part_is_over(trace::Nanoseconds time) {
  if (passes_ > 0) open_.end = std::max(open_.end, time);
}

void ForwardsWithoutGradients::train() {
  has_trained_ = true;
  close();
}

void ForwardsWithoutGradients::close() {
  constexpr trace::Nanoseconds kLeast = 1'000'000;
  if (std::exchange(passes_, 0) >= 2 && open_.end - open_.begin >= kLeast) over_ = open_;
}

std::optional<ForwardsWithoutGradients::Evaluation> ForwardsWithoutGradients::take() {
  return std::exchange(over_, std::nullopt);
}

}  // namespace lockstep::tracer::pytorch

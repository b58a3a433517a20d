// Which sequences of the text each rank trains on, and when.
//
// The text is cut into windows of sequence_length tokens (and the one that follows, as the last target). An
// endless stream runs through all windows in an order shuffled anew for each epoch by (seed, epoch). A
// micro-step takes the next world_size · batch_size windows of the stream; rank r takes the r-th share of
// batch_size. So the windows of a step depend on its size alone and not on how it is shared out: 4 ranks × 2,
// 1 rank × 8 and 2 ranks × 2 accumulated twice train on the same sequences.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace lockstep::trainer {

class Sampler {
 public:
  struct Shape {
    std::size_t text_bytes = 0;
    std::size_t sequence_length = 0;
    std::size_t batch_size = 0;
    std::size_t gradient_accumulation = 1;
    std::size_t world_size = 1;
    std::size_t rank = 0;
    std::uint64_t seed = 0;
  };

  // An error where the text does not hold enough windows for one step (a step never sees a window twice
  // within an epoch).
  static Result<Sampler> create(const Shape& shape);

  // Byte offsets of the windows of this rank's batch. Both indices count from 0.
  std::vector<std::size_t> batch(std::size_t step, std::size_t micro_step);

  std::size_t windows() const { return windows_; }

 private:
  explicit Sampler(const Shape& shape);
  std::size_t window_at(std::uint64_t stream_position);

  Shape shape_;
  std::size_t windows_ = 0;
  std::uint64_t epoch_ = 0;
  std::vector<std::size_t> order_;  // of epoch_
};

}  // namespace lockstep::trainer

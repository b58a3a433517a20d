// The batches of one rank, out of the text.
#pragma once

#include <string>

#include "reference_trainer/data/sampler.h"
#include "reference_trainer/faults/rank_faults.h"
#include "reference_trainer/strategy/strategy.h"

namespace lockstep::trainer {

class TextBatches : public BatchSource {
 public:
  // `text` and `faults` must live as long as this. `device`: where batches go.
  TextBatches(const std::string& text, int sequence_length, Sampler sampler, const RankFaults& faults,
              c10::Device device);

  // Steps count from 1.
  void begin_step(int step);
  Batch next() override;

  std::size_t windows() const { return sampler_.windows(); }

 private:
  const std::string& text_;
  int sequence_length_;
  Sampler sampler_;
  const RankFaults& faults_;
  c10::Device device_;
  std::size_t step_ = 0, micro_step_ = 0;
};

}  // namespace lockstep::trainer

#include "reference_trainer/training/text_batches.h"

#include <ATen/ops/empty.h>

#include <utility>

#include "reference_trainer/instrumentation/annotations.h"

namespace lockstep::trainer {
namespace {

// Sequences of the text as int64 [batch, length], and the same shifted by one token.
Batch make_batch(const std::string& text, const std::vector<std::size_t>& offsets, int length) {
  const auto rows = static_cast<std::int64_t>(offsets.size());
  const at::Tensor windows = at::empty({rows, length + 1}, at::kLong);
  auto* out = windows.data_ptr<std::int64_t>();
  for (const std::size_t offset : offsets) {
    for (int i = 0; i <= length; ++i)
      *out++ = static_cast<unsigned char>(text[offset + static_cast<std::size_t>(i)]);
  }
  return {windows.narrow(1, 0, length).contiguous(), windows.narrow(1, 1, length).contiguous()};
}

}  // namespace

TextBatches::TextBatches(const std::string& text, int sequence_length, Sampler sampler,
                         const RankFaults& faults, c10::Device device)
    : text_(text),
      sequence_length_(sequence_length),
      sampler_(std::move(sampler)),
      faults_(faults),
      device_(device) {}

void TextBatches::begin_step(int step) {
  step_ = static_cast<std::size_t>(step - 1);
  micro_step_ = 0;
}

Batch TextBatches::next() {
  const auto range = annotations::Scope::phase("data_loading");
  faults_.wait_for_batch();
  const Batch batch = make_batch(text_, sampler_.batch(step_, micro_step_++), sequence_length_);
  return {batch.tokens.to(device_), batch.targets.to(device_)};
}

}  // namespace lockstep::trainer

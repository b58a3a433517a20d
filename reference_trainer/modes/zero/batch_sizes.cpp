#include "reference_trainer/modes/zero/batch_sizes.h"

#include <fmt/format.h>

namespace lockstep::trainer {

Result<ResolvedBatch> solve_batch_sizes(const BatchSizes& known, std::int64_t ranks,
                                        std::int64_t usual_micro_batch) {
  if (!known.train_batch)
    return ResolvedBatch{known.micro_batch.value_or(usual_micro_batch), known.accumulation.value_or(1)};
  const std::int64_t whole = *known.train_batch;
  if (known.micro_batch && known.accumulation) {
    const std::int64_t product = *known.micro_batch * *known.accumulation * ranks;
    if (product != whole)
      return Error{
          fmt::format("train_batch_size {} is not train_micro_batch_size_per_gpu {} x "
                      "gradient_accumulation_steps {} x {} ranks = {}; change one, or make one \"auto\"",
                      whole, *known.micro_batch, *known.accumulation, ranks, product)};
    return ResolvedBatch{*known.micro_batch, *known.accumulation};
  }
  const std::int64_t known_part = known.micro_batch.value_or(known.accumulation.value_or(1));
  if (whole % (known_part * ranks) != 0)
    return Error{
        fmt::format("train_batch_size {} is not a multiple of {}{} ranks = {}", whole,
                    known.micro_batch    ? fmt::format("train_micro_batch_size_per_gpu {} x ", known_part)
                    : known.accumulation ? fmt::format("gradient_accumulation_steps {} x ", known_part)
                                         : "",
                    ranks, known_part * ranks)};
  const std::int64_t rest = whole / (known_part * ranks);
  if (known.micro_batch) return ResolvedBatch{known_part, rest};
  return ResolvedBatch{rest, known_part};
}

}  // namespace lockstep::trainer

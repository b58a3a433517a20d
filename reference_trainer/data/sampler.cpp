#include "reference_trainer/data/sampler.h"

#include <fmt/format.h>

#include <numeric>
#include <random>

namespace lockstep::trainer {
namespace {

// Uniform in [0, bound), the same on every standard library (std::uniform_int_distribution and std::shuffle
// are not).
std::size_t uniform_below(std::mt19937_64& random, std::size_t bound) {
  const std::uint64_t limit = random.max() - random.max() % bound;
  std::uint64_t value = random();
  while (value >= limit) value = random();
  return static_cast<std::size_t>(value % bound);
}

std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed, std::uint64_t epoch) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::seed_seq sequence{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                         static_cast<std::uint32_t>(epoch), static_cast<std::uint32_t>(epoch >> 32)};
  std::mt19937_64 random(sequence);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[uniform_below(random, i)]);
  return order;
}

}  // namespace

Result<Sampler> Sampler::create(const Shape& shape) {
  Sampler sampler(shape);
  const std::size_t needed = shape.world_size * shape.batch_size * shape.gradient_accumulation;
  if (sampler.windows_ < needed) {
    return Error{fmt::format(
        "the text is too short: its {} bytes give {} sequences of {}, and one step takes {} ({} ranks x "
        "--batch-size {} x --gradient-accumulation {}); use a longer --data, or a smaller --sequence-length "
        "or --batch-size",
        shape.text_bytes, sampler.windows_, shape.sequence_length, needed, shape.world_size, shape.batch_size,
        shape.gradient_accumulation)};
  }
  return sampler;
}

Sampler::Sampler(const Shape& shape)
    : shape_(shape), windows_(shape.text_bytes == 0 ? 0 : (shape.text_bytes - 1) / shape.sequence_length) {
  if (windows_ > 0) order_ = shuffled(windows_, shape_.seed, epoch_);
}

std::vector<std::size_t> Sampler::batch(std::size_t step, std::size_t micro_step) {
  const std::uint64_t micro_steps = std::uint64_t{step} * shape_.gradient_accumulation + micro_step;
  const std::uint64_t first = (micro_steps * shape_.world_size + shape_.rank) * shape_.batch_size;
  std::vector<std::size_t> offsets(shape_.batch_size);
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = window_at(first + i) * shape_.sequence_length;
  return offsets;
}

std::size_t Sampler::window_at(std::uint64_t stream_position) {
  const std::uint64_t epoch = stream_position / windows_;
  if (epoch != epoch_) {
    order_ = shuffled(windows_, shape_.seed, epoch);
    epoch_ = epoch;
  }
  return order_[stream_position % windows_];
}

}  // namespace lockstep::trainer

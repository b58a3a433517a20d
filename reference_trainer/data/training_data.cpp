#include "reference_trainer/data/training_data.h"

#include <fmt/format.h>

#include "reference_trainer/options/mode.h"

namespace lockstep::trainer {

Sampler::Shape sampler_shape(const Options& options, const Text& text, int world_size, int rank) {
  const auto size = [](int value) { return static_cast<std::size_t>(value); };
  const MeshPlace place = options.mode->place(options, world_size, rank);
  return {.text_bytes = text.bytes.size(),
          .sequence_length = size(options.model.sequence_length),
          .batch_size = size(options.training.batch_size),
          .gradient_accumulation = size(options.training.gradient_accumulation),
          .world_size = size(place.replicas),
          .rank = size(place.replica),
          .seed = options.training.seed};
}

Result<Text> load_training_text(const Options& options, int world_size) {
  Result<Text> text = options.data.empty() ? load_documentation() : load_text(options.data);
  if (!text.ok()) return text.error();
  const Result<Sampler> sampler = Sampler::create(sampler_shape(options, text.value(), world_size, 0));
  if (!sampler.ok()) return Error{fmt::format("'{}': {}", text.value().source, sampler.error().message)};
  return text;
}

}  // namespace lockstep::trainer

#include "reference_trainer/modes/pipeline/schedule.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::trainer {
namespace {

using Kind = Action::Kind;

// The order in which a rank takes its microbatches and chunks: a round of microbatches through one chunk,
// then the same microbatches through the next; after the last chunk, the next round. Backward takes the
// chunks from the last one down.
class Order {
 public:
  explicit Order(const PipelineShape& shape)
      : chunks_(shape.chunks),
        round_(shape.microbatches / std::max(1, shape.microbatches / shape.stages)),
        passes_(shape.microbatches * shape.chunks) {}

  // Each of them once forward, once backward.
  int passes() const { return passes_; }
  int microbatches_per_round() const { return round_; }

  Action forward(int index) const { return {Kind::forward, microbatch(index), chunk(index)}; }
  Action backward(int index) const { return {Kind::backward, microbatch(index), chunks_ - 1 - chunk(index)}; }

 private:
  int chunk(int index) const { return index / round_ % chunks_; }
  int microbatch(int index) const { return index / (round_ * chunks_) * round_ + index % round_; }

  int chunks_;
  int round_;
  int passes_;
};

// Forwards before the first backward.
int forwards_ahead(const PipelineShape& shape, int stage, const Order& order) {
  switch (shape.schedule) {
    case PipelineSchedule::gpipe:
      return order.passes();
    case PipelineSchedule::one_forward_one_backward:
      return std::min(order.passes(), shape.stages - stage);
    case PipelineSchedule::interleaved:
      break;
  }
  const int warm_up = (shape.chunks - 1) * order.microbatches_per_round() + 2 * (shape.stages - 1 - stage);
  // The turns after it begin with a forward.
  return std::min(warm_up + 1, order.passes());
}

}  // namespace

Status check_shape(const PipelineShape& shape) {
  const int stages = shape.stages;
  if (stages < 2) return Error{fmt::format("--pipeline-stages {}: a pipeline has at least 2 stages", stages)};
  if (shape.schedule != PipelineSchedule::interleaved) {
    if (shape.chunks == 1) return {};
    return Error{
        fmt::format("--chunks {}: --schedule {} has one chunk per rank; several are for --schedule "
                    "interleaved",
                    shape.chunks, to_string(shape.schedule))};
  }
  if (shape.chunks < 2)
    return Error{fmt::format("--schedule interleaved: each rank needs at least 2 chunks, not --chunks {}",
                             shape.chunks)};
  if (shape.microbatches > stages && shape.microbatches % stages != 0) {
    return Error{fmt::format(
        "--microbatches {}: --schedule interleaved takes them in rounds of --pipeline-stages {}; {} would do",
        shape.microbatches, stages, nearest_multiples(shape.microbatches, stages))};
  }
  return {};
}

std::vector<Action> make_schedule(const PipelineShape& shape, int stage) {
  const Order order(shape);
  const int ahead = forwards_ahead(shape, stage, order);
  std::vector<Action> actions;
  for (int i = 0; i < ahead; ++i) actions.push_back(order.forward(i));
  for (int i = ahead; i < order.passes(); ++i) {
    actions.push_back(order.backward(i - ahead));
    actions.push_back(order.forward(i));
  }
  for (int i = order.passes() - ahead; i < order.passes(); ++i) actions.push_back(order.backward(i));
  return actions;
}

const char* to_string(PipelineSchedule schedule) {
  switch (schedule) {
    case PipelineSchedule::gpipe:
      return "gpipe";
    case PipelineSchedule::one_forward_one_backward:
      return "1f1b";
    case PipelineSchedule::interleaved:
      return "interleaved";
  }
  return "";
}

std::string nearest_multiples(int value, int divisor) {
  const int below = value / divisor * divisor;
  return below == 0 ? fmt::format("{}", divisor) : fmt::format("{} or {}", below, below + divisor);
}

}  // namespace lockstep::trainer

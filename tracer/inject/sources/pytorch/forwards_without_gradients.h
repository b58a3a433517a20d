// Evaluation loops that neither a framework nor eval() tells: forward passes without gradients, one after the
// other, of a program that has trained.
#pragma once

#include <optional>

#include "trace/events/event.h"

namespace lockstep::tracer::pytorch {

// Of one thread. Times don't decrease.
class ForwardsWithoutGradients {
 public:
  struct Evaluation {
    trace::Nanoseconds begin = 0, end = 0;
  };

  // A forward pass of the whole model begins.
  void forward(bool has_gradients, trace::Nanoseconds time);
  // A part of such a pass without gradients is over.
  void part_is_over(trace::Nanoseconds time);
  // A backward pass or an optimizer begins.
  void train();
  // Nothing more comes.
  void finish() { close(); }

  // What has become clear since it was last taken: two passes or more (one alone may be a teacher's), and a
  // millisecond or longer.
  std::optional<Evaluation> take();

 private:
  void close();

  bool has_trained_ = false;
  int passes_ = 0;
  Evaluation open_;
  std::optional<Evaluation> over_;
};

}  // namespace lockstep::tracer::pytorch

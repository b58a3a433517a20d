// What a training loop's thread does between two phases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <tuple>
#include <vector>

#include "tracer/inject/sources/pytorch/training_loop.h"

namespace lockstep::tracer::pytorch {
namespace {

using testing::ElementsAre;
using trace::Pass;
using Piece = std::tuple<trace::Nanoseconds, trace::Nanoseconds, Pass>;

// The backward pass ends at 80, the optimizer begins at 120; between them the thread waits for communication
// from 90 to 100, and runs for so long on a core.
std::vector<Piece> computed_with_gap(std::int64_t ran) {
  TrainingLoop loop;
  loop.begin(Phase::backward, 0, -1, 40);
  loop.end(Phase::backward, 80, 1000);
  loop.begin_wait(90);
  loop.end_wait(100);
  loop.begin(Phase::optimizer, 7, -1, 120, ran < 0 ? -1 : 1000 + ran);
  loop.end(Phase::optimizer, 130);
  loop.finish();
  std::vector<Piece> pieces;
  for (const TrainingLoop::Computed& one : loop.take_computed())
    pieces.emplace_back(one.begin, one.end, one.pass);
  return pieces;
}

// Clipping and unscaling are the optimizer's. A sleep is nobody's computation, nor what the thread waits for
// on a core.
TEST(TrainingLoop, BetweenBackwardAndOptimizerOnlyWhatRanIsComputation) {
  const Piece backward{40, 80, Pass::backward};
  for (const std::int64_t ran : {-1, 15, 29, 400})
    EXPECT_THAT(computed_with_gap(ran),
                ElementsAre(backward, Piece{80, 90, Pass::optimizer}, Piece{100, 130, Pass::optimizer}))
        << ran;
  EXPECT_THAT(computed_with_gap(14), ElementsAre(backward, Piece{106, 130, Pass::optimizer}));
  EXPECT_THAT(computed_with_gap(0), ElementsAre(backward, Piece{120, 130, Pass::optimizer}));
}

}  // namespace
}  // namespace lockstep::tracer::pytorch

#include "tracer/inject/sources/pytorch/training_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace lockstep::tracer::pytorch {
namespace {

using testing::ElementsAre;
using trace::Nanoseconds;
using trace::Pass;
using Piece = std::tuple<Nanoseconds, Nanoseconds, Pass, std::int32_t>;
using Boundary = std::tuple<Nanoseconds, Nanoseconds, std::int64_t>;

std::vector<Piece> computed(TrainingLoop& loop) {
  std::vector<Piece> pieces;
  for (const auto& piece : loop.take_computed())
    pieces.emplace_back(piece.begin, piece.end, piece.pass, piece.microbatch);
  return pieces;
}

std::vector<Boundary> steps(TrainingLoop& loop) {
  std::vector<Boundary> found;
  for (const trace::Step& step : loop.take_steps()) found.emplace_back(step.begin, step.end, step.number);
  return found;
}

void phase(TrainingLoop& loop, Phase phase, Nanoseconds begin, Nanoseconds end, std::uint64_t identity = 0) {
  loop.begin(phase, identity, -1, begin);
  loop.end(phase, end);
}

TEST(TrainingLoop, OneOptimizerEndsEachStep) {
  TrainingLoop loop;
  for (Nanoseconds t = 0; t < 300; t += 100) {
    phase(loop, Phase::data, t, t + 10);
    phase(loop, Phase::backward, t + 40, t + 80);
    phase(loop, Phase::optimizer, t + 85, t + 95, 7);
  }
  EXPECT_THAT(steps(loop), ElementsAre(Boundary{0, 95, 0}, Boundary{95, 195, 1}));
  loop.finish();
  EXPECT_THAT(steps(loop), ElementsAre(Boundary{195, 295, 2}));
  // Forward is what lies between the data and the backward pass; after that it is the optimizer's.
  EXPECT_THAT(computed(loop),
              ElementsAre(Piece{10, 40, Pass::forward, -1}, Piece{40, 80, Pass::backward, -1},
                          Piece{80, 95, Pass::optimizer, -1}, Piece{110, 140, Pass::forward, -1},
                          Piece{140, 180, Pass::backward, -1}, Piece{180, 195, Pass::optimizer, -1},
                          Piece{210, 240, Pass::forward, -1}, Piece{240, 280, Pass::backward, -1},
                          Piece{280, 295, Pass::optimizer, -1}));
}

TEST(TrainingLoop, AStepThatIsCountedAsOverCanBeHadAtOnce) {
  TrainingLoop loop;
  loop.step_began(0, 0);
  const auto step = [&](std::int64_t number, Nanoseconds begin) {
    phase(loop, Phase::backward, begin, begin + 50);
    phase(loop, Phase::optimizer, begin + 60, begin + 70, 1);
    phase(loop, Phase::optimizer, begin + 80, begin + 90, 2);
    loop.step_began(number + 1, begin + 91);
  };
  step(0, 0);
  EXPECT_THAT(steps(loop), ElementsAre()) << "the next one's optimizer would tell it";
  loop.close_counted_step();
  EXPECT_THAT(steps(loop), ElementsAre(Boundary{0, 90, 0}));
  loop.close_counted_step();
  EXPECT_THAT(steps(loop), ElementsAre()) << "once";
  step(1, 100);
  // Half way through the next one there is nothing to close: the last is told by its optimizer.
  phase(loop, Phase::backward, 200, 250);
  loop.begin(Phase::optimizer, 1, -1, 260);
  loop.close_counted_step();
  EXPECT_THAT(steps(loop), ElementsAre(Boundary{90, 190, 1}));
  loop.end(Phase::optimizer, 270);
  phase(loop, Phase::optimizer, 280, 290, 2);
  loop.step_began(3, 291);
  loop.finish();
  EXPECT_THAT(steps(loop), ElementsAre(Boundary{190, 290, 2}));
}

// A job that hangs in the next step, or is killed there: its last whole step is known all the same.
TEST(TrainingLoop, AStepAfterWhichNothingComesIsToldAfterAWhile) {
  TrainingLoop loop;
  loop.step_began(0, 0);
  for (std::int64_t number = 0; number < 4; ++number) {
    const Nanoseconds begin = number * 100;
    phase(loop, Phase::backward, begin, begin + 50);
    phase(loop, Phase::optimizer, begin + 60, begin + 90, 1);
    loop.step_began(number + 1, begin + 91);
    loop.close_step_counted_before(begin + 91);
    if (number < 2) loop.close_step_counted_before(begin + 99);  // another optimizer may join the first ones
  }
  EXPECT_THAT(steps(loop), ElementsAre(Boundary{0, 90, 0}, Boundary{90, 190, 1}, Boundary{190, 290, 2}));
  loop.begin(Phase::backward, 0, -1, 400);  // and stays there
  loop.close_step_counted_before(392);
  EXPECT_THAT(steps(loop), ElementsAre(Boundary{290, 390, 3}));
  loop.close_step_counted_before(500);
  loop.finish();
  EXPECT_THAT(steps(loop), ElementsAre()) << "once";
}

// As StepCounter tells them: a critic steps three times, then the generator.
TEST(TrainingLoop, StepsAreThoseThatAreCounted) {
  TrainingLoop loop;
  loop.step_began(4, 0);
  for (std::int64_t number = 4; number < 7; ++number) {
    const Nanoseconds begin = (number - 4) * 100;
    for (Nanoseconds critic = 0; critic < 3; ++critic) {
      phase(loop, Phase::backward, begin + 20 * critic, begin + 20 * critic + 10);
      phase(loop, Phase::optimizer, begin + 20 * critic + 10, begin + 20 * critic + 15, 1);
    }
    phase(loop, Phase::optimizer, begin + 80, begin + 90, 2);
    loop.step_began(number + 1, begin + 91);
  }
  loop.finish();
  EXPECT_THAT(steps(loop), ElementsAre(Boundary{0, 90, 4}, Boundary{90, 190, 5}, Boundary{190, 290, 6}));
}

// DiLoCo: an outer optimizer, which StepCounter does not count, twice after every second step.
TEST(TrainingLoop, ARareOptimizerBelongsToTheStepItComesBehind) {
  TrainingLoop loop;
  loop.step_began(0, 0);
  for (std::int64_t number = 0; number < 6; ++number) {
    const Nanoseconds begin = number * 100;
    phase(loop, Phase::backward, begin, begin + 50);
    phase(loop, Phase::optimizer, begin + 50, begin + 60, 1);
    loop.step_began(number + 1, begin + 60);
    for (Nanoseconds at = begin + 70; number % 2 == 1 && at < begin + 90; at += 10)
      phase(loop, Phase::optimizer, at, at + 10, 2);
  }
  loop.finish();
  EXPECT_THAT(steps(loop), ElementsAre(Boundary{0, 60, 0}, Boundary{60, 190, 1}, Boundary{190, 260, 2},
                                       Boundary{260, 390, 3}, Boundary{390, 460, 4}, Boundary{460, 590, 5}));
}

TEST(TrainingLoop, GradientAccumulationIsOneStep) {
  TrainingLoop loop;
  for (Nanoseconds t = 0; t < 400; t += 100) {
    phase(loop, Phase::backward, t, t + 50);
    if (t % 200 == 100) phase(loop, Phase::optimizer, t + 60, t + 70, 1);
  }
  loop.finish();
  EXPECT_THAT(steps(loop), ElementsAre(Boundary{0, 170, 0}, Boundary{170, 370, 1}));
}

TEST(TrainingLoop, OptimizersThatTakeTurnsShareAStep) {
  TrainingLoop loop;
  for (Nanoseconds t = 0; t < 200; t += 100) {
    phase(loop, Phase::backward, t, t + 10);
    phase(loop, Phase::optimizer, t + 10, t + 20, 1);  // discriminator
    phase(loop, Phase::backward, t + 30, t + 40);
    phase(loop, Phase::optimizer, t + 40, t + 50, 2);  // generator
  }
  loop.finish();
  EXPECT_THAT(steps(loop), ElementsAre(Boundary{0, 50, 0}, Boundary{50, 150, 1}));
}

TEST(TrainingLoop, AnOptimizerForEachParameterStepsWithinBackward) {
  TrainingLoop loop;
  for (Nanoseconds t = 0; t < 200; t += 100) {
    loop.begin(Phase::backward, 0, -1, t);
    for (std::uint64_t parameter = 1; parameter <= 3; ++parameter) {
      const auto at = t + 10 * static_cast<Nanoseconds>(parameter);
      phase(loop, Phase::optimizer, at, at + 5, parameter);
    }
    loop.end(Phase::backward, t + 50);
  }
  loop.finish();
  EXPECT_THAT(steps(loop), ElementsAre(Boundary{0, 35, 0}, Boundary{35, 135, 1}));
}

TEST(TrainingLoop, WaitingIsNoComputation) {
  TrainingLoop loop;
  loop.begin(Phase::backward, 0, -1, 0);
  loop.begin_wait(30);
  loop.begin_wait(32);  // one wait within another
  loop.end_wait(40);
  loop.end_wait(41);
  loop.end(Phase::backward, 50);
  EXPECT_THAT(computed(loop),
              ElementsAre(Piece{0, 30, Pass::backward, -1}, Piece{41, 50, Pass::backward, -1}));
}

TEST(TrainingLoop, ANamedForwardPassLeavesOutWhatComesBeforeItAndKeepsTheLoss) {
  TrainingLoop loop;
  phase(loop, Phase::optimizer, 0, 10, 1);
  phase(loop, Phase::forward, 50, 70);  // 10 to 50: logging, say
  phase(loop, Phase::backward, 80, 90);
  EXPECT_THAT(computed(loop), ElementsAre(Piece{0, 10, Pass::optimizer, -1}, Piece{50, 80, Pass::forward, -1},
                                          Piece{80, 90, Pass::backward, -1}));
}

TEST(TrainingLoop, PartsOfAForwardPassShowWhereItBegins) {
  TrainingLoop loop;
  phase(loop, Phase::optimizer, 0, 10, 1);
  loop.forward_part(50);
  loop.forward_part(60);
  phase(loop, Phase::backward, 80, 90);
  EXPECT_THAT(computed(loop), ElementsAre(Piece{0, 10, Pass::optimizer, -1}, Piece{50, 80, Pass::forward, -1},
                                          Piece{80, 90, Pass::backward, -1}));
}

TEST(TrainingLoop, InAPipelineOnlyTheMicrobatchThatTurnsRoundHasALoss) {
  TrainingLoop loop;
  const auto chunk = [&](Phase phase, std::int32_t microbatch, Nanoseconds begin, Nanoseconds end) {
    loop.begin(phase, 0, microbatch, begin);
    loop.end(phase, end);
  };
  chunk(Phase::forward, 0, 0, 10);
  chunk(Phase::forward, 1, 20, 30);
  chunk(Phase::backward, 1, 35, 45);
  chunk(Phase::backward, 0, 50, 60);
  chunk(Phase::forward, 2, 70, 80);
  chunk(Phase::backward, 1, 85, 90);
  chunk(Phase::backward, 2, 95, 99);
  EXPECT_THAT(computed(loop), ElementsAre(Piece{0, 10, Pass::forward, 0}, Piece{20, 35, Pass::forward, 1},
                                          Piece{35, 45, Pass::backward, 1}, Piece{50, 60, Pass::backward, 0},
                                          Piece{70, 80, Pass::forward, 2}, Piece{85, 90, Pass::backward, 1},
                                          Piece{95, 99, Pass::backward, 2}));
}

TEST(TrainingLoop, NumbersAreThoseOfTheProcessAlsoAfterAPauseOfRecording) {
  TrainingLoop loop;
  loop.step_began(0, 1);
  const auto step = [&](Nanoseconds t, std::int64_t next) {
    phase(loop, Phase::backward, t, t + 5);
    phase(loop, Phase::optimizer, t + 5, t + 9, 1);
    loop.step_began(next, t + 9);
  };
  step(10, 1);
  step(20, 2);
  loop.step_began(3, 39);  // not recorded
  loop.step_began(4, 49);
  step(50, 5);
  step(60, 6);
  loop.finish();
  EXPECT_THAT(steps(loop),
              ElementsAre(Boundary{1, 19, 0}, Boundary{19, 29, 1}, Boundary{49, 59, 4}, Boundary{59, 69, 5}));
}

TEST(TrainingLoop, SettingGradientsToZeroBeginsTheFirstStep) {
  TrainingLoop loop;
  loop.touch(5);
  phase(loop, Phase::backward, 20, 30);
  phase(loop, Phase::optimizer, 30, 40, 1);
  loop.touch(45);
  loop.finish();
  EXPECT_THAT(steps(loop), ElementsAre(Boundary{5, 40, 0}));
  EXPECT_THAT(computed(loop), ElementsAre(Piece{5, 20, Pass::forward, -1}, Piece{20, 30, Pass::backward, -1},
                                          Piece{30, 40, Pass::optimizer, -1}));
}

TEST(TrainingLoop, EvaluationBetweenStepsIsNoForwardPassOfTraining) {
  TrainingLoop loop;
  phase(loop, Phase::optimizer, 0, 10, 1);
  phase(loop, Phase::data, 20, 30);
  phase(loop, Phase::data, 50, 60);  // 30 to 50: evaluated, no backward pass came
  phase(loop, Phase::backward, 80, 90);
  EXPECT_THAT(computed(loop), ElementsAre(Piece{0, 10, Pass::optimizer, -1}, Piece{60, 80, Pass::forward, -1},
                                          Piece{80, 90, Pass::backward, -1}));
}

TEST(TrainingLoop, EndsWithoutBeginsAndPhasesLeftOpenAreHarmless) {
  TrainingLoop loop;
  loop.end(Phase::backward, 5);
  loop.end_wait(6);
  loop.begin(Phase::backward, 0, -1, 10);
  loop.begin(Phase::optimizer, 3, -1, 20);
  loop.end(Phase::backward, 30);  // the optimizer's end was lost
  phase(loop, Phase::optimizer, 40, 50, 3);
  loop.finish();
  for (const auto& [begin, end, number] : steps(loop)) EXPECT_LE(begin, end) << number;
}

// Whatever comes, pieces are in order, do not overlap, and never lie within a wait.
TEST(TrainingLoop, PiecesOfAnyLoopAreDisjointAndOutsideWaits) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    TrainingLoop loop;
    Nanoseconds time = 0;
    int waits = 0;
    std::vector<Phase> open;
    std::vector<std::pair<Nanoseconds, Nanoseconds>> waited;
    Nanoseconds wait_begin = 0;
    for (int event = 0; event < 60; ++event) {
      time += static_cast<Nanoseconds>(random() % 5);
      const auto kind = random() % 5;
      if (kind == 0) {
        open.push_back(static_cast<Phase>(1 + random() % 4));
        loop.begin(open.back(), random() % 3, static_cast<std::int32_t>(random() % 4) - 1, time);
      } else if (kind == 1 && !open.empty()) {
        loop.end(open.back(), time);
        open.pop_back();
      } else if (kind == 2) {
        if (waits++ == 0) wait_begin = time;
        loop.begin_wait(time);
      } else if (kind == 3 && waits > 0) {
        loop.end_wait(time);
        if (--waits == 0 && time > wait_begin) waited.emplace_back(wait_begin, time);
      } else if (kind == 4) {
        loop.forward_part(time);
      }
    }
    loop.finish();
    std::vector<Piece> pieces = computed(loop);
    std::sort(pieces.begin(), pieces.end());
    Nanoseconds last = -1;
    for (const auto& [begin, end, pass, microbatch] : pieces) {
      ASSERT_LT(begin, end);
      ASSERT_GE(begin, last);
      last = end;
      for (const auto& [from, to] : waited) ASSERT_TRUE(end <= from || begin >= to);
    }
    Nanoseconds before = -1;
    for (const auto& [begin, end, number] : steps(loop)) {
      ASSERT_LE(begin, end);
      ASSERT_GE(begin, before);
      before = end;
    }
  }
}

TEST(TrainingLoop, ForwardPassesAloneAreComputedWhereNothingTrains) {
  TrainingLoop loop;
  for (Nanoseconds t = 0; t < 200; t += 100) {
    phase(loop, Phase::data, t, t + 10);
    loop.begin_alone(t + 20);
    loop.begin_wait(t + 30);  // what a part of the model waits for
    loop.end_wait(t + 40);
    loop.end_alone(t + 60);
    loop.begin_wait(t + 70);
    loop.end_wait(t + 90);
  }
  loop.finish();
  EXPECT_THAT(computed(loop),
              ElementsAre(Piece{20, 30, Pass::forward, -1}, Piece{40, 60, Pass::forward, -1},
                          Piece{120, 130, Pass::forward, -1}, Piece{140, 160, Pass::forward, -1}));
  EXPECT_TRUE(steps(loop).empty());
}

TEST(TrainingLoop, ForwardPassesAloneNeedNoData) {
  TrainingLoop loop;
  for (Nanoseconds t = 0; t < 200; t += 100) {
    loop.begin_alone(t + 20);
    loop.end_alone(t + 60);
  }
  EXPECT_THAT(computed(loop), ElementsAre(Piece{20, 60, Pass::forward, -1}));
  loop.finish();
  EXPECT_THAT(computed(loop), ElementsAre(Piece{120, 160, Pass::forward, -1}));
}

TEST(TrainingLoop, WhatAWrapperNamesWithinAForwardPassAloneCountsOnce) {
  TrainingLoop loop;
  loop.begin_alone(10);
  phase(loop, Phase::forward, 20, 30);
  loop.end_alone(40);
  loop.finish();
  EXPECT_THAT(computed(loop), ElementsAre(Piece{10, 40, Pass::forward, -1}));
}

TEST(TrainingLoop, ATeachersPassAloneInTheFirstStepChangesNothing) {
  TrainingLoop with, without;
  for (TrainingLoop* const loop : {&with, &without}) {
    for (Nanoseconds t = 0; t < 300; t += 100) {
      phase(*loop, Phase::data, t, t + 10);
      if (loop == &with && t == 0) {
        loop->begin_alone(15);
        loop->end_alone(25);
      }
      phase(*loop, Phase::backward, t + 40, t + 80);
      phase(*loop, Phase::optimizer, t + 85, t + 95, 7);
    }
    loop->finish();
  }
  EXPECT_EQ(computed(with), computed(without));
  EXPECT_EQ(steps(with), steps(without));
}

TEST(RangeMeaning, ByName) {
  using Kind = RangeMeaning::Kind;
  EXPECT_EQ(meaning_of_range("DistributedDataParallel.forward").kind, Kind::forward);
  EXPECT_EQ(meaning_of_range("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__").kind,
            Kind::data);
  EXPECT_EQ(meaning_of_range("Forward 12").kind, Kind::none) << "it waits for its message as well";
  EXPECT_EQ(meaning_of_range("FSDP::pre_forward (layers.0)").kind, Kind::forward_part);
  EXPECT_EQ(meaning_of_range("my own range").kind, Kind::none);
  EXPECT_EQ(meaning_of_range("forward of Net").kind, Kind::none) << "a program's own";
  EXPECT_EQ(meaning_of_range("forward of Net", true).kind, Kind::forward_alone);
}

}  // namespace
}  // namespace lockstep::tracer::pytorch

// The schedules against sequences written by hand, and against a simulator of a pipeline that knows nothing
// of how they were made.
#include "reference_trainer/modes/pipeline/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace lockstep::trainer {
namespace {

using Kind = Action::Kind;

constexpr auto kGPipe = PipelineSchedule::gpipe;
constexpr auto kOneForwardOneBackward = PipelineSchedule::one_forward_one_backward;
constexpr auto kInterleaved = PipelineSchedule::interleaved;

// "F0 F1 B0 B1"; with chunks, "F0.1" is microbatch 0 through chunk 1.
std::string written(const PipelineShape& shape, int stage) {
  std::string text;
  for (const Action& action : make_schedule(shape, stage)) {
    if (!text.empty()) text += ' ';
    text += (action.kind == Kind::forward ? "F" : "B") + std::to_string(action.microbatch);
    if (shape.chunks > 1) text += "." + std::to_string(action.chunk);
  }
  return text;
}

TEST(Schedule, GPipe) {
  for (int stage = 0; stage < 3; ++stage)
    EXPECT_EQ(written({kGPipe, 3, 4}, stage), "F0 F1 F2 F3 B0 B1 B2 B3");
}

TEST(Schedule, OneForwardOneBackward) {
  const PipelineShape shape{kOneForwardOneBackward, 4, 6};
  EXPECT_EQ(written(shape, 0), "F0 F1 F2 F3 B0 F4 B1 F5 B2 B3 B4 B5");
  EXPECT_EQ(written(shape, 1), "F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 B4 B5");
  EXPECT_EQ(written(shape, 2), "F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 B5");
  EXPECT_EQ(written(shape, 3), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5");
}

TEST(Schedule, OneForwardOneBackwardWithFewerMicrobatchesThanStages) {
  const PipelineShape shape{kOneForwardOneBackward, 4, 2};
  EXPECT_EQ(written(shape, 0), "F0 F1 B0 B1");
  EXPECT_EQ(written(shape, 2), "F0 F1 B0 B1");
  EXPECT_EQ(written(shape, 3), "F0 B0 F1 B1");
}

// Two stages, four microbatches in two rounds. Warm-up: min((2 − 1) · 2 + 2 · (1 − r), 8) forwards.
TEST(Schedule, Interleaved) {
  const PipelineShape shape{kInterleaved, 2, 4, 2};
  EXPECT_EQ(written(shape, 0),
            "F0.0 F1.0 F0.1 F1.1 F2.0 B0.1 F3.0 B1.1 F2.1 B0.0 F3.1 B1.0 B2.1 B3.1 B2.0 B3.0");
  EXPECT_EQ(written(shape, 1),
            "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 F3.0 B1.0 F2.1 B2.1 F3.1 B3.1 B2.0 B3.0");
}

// One microbatch to a round: the warm-up of all stages but the last is everything there is.
TEST(Schedule, InterleavedWithFewerMicrobatchesThanStages) {
  const PipelineShape shape{kInterleaved, 3, 1, 2};
  EXPECT_EQ(written(shape, 0), "F0.0 F0.1 B0.1 B0.0");
  EXPECT_EQ(written(shape, 2), "F0.0 F0.1 B0.1 B0.0");
}

struct Simulated {
  int time = 0;                     // until the last backward ends
  std::vector<int> most_in_flight;  // per stage: the most forwards whose backward is still to come
};

// Each stage does its actions in order, each as soon as what it needs is there; communication takes no time.
// Nothing where the stages wait for each other for ever.
std::optional<Simulated> simulate(const PipelineShape& shape, int forward_time, int backward_time) {
  const auto stages = static_cast<std::size_t>(shape.stages);
  std::vector<std::vector<Action>> left(stages);
  for (std::size_t stage = 0; stage < stages; ++stage)
    left[stage] = make_schedule(shape, static_cast<int>(stage));
  std::map<std::tuple<Kind, int, int>, int> done;  // kind, microbatch, model stage: when
  std::vector<int> idle_from(stages), next(stages), in_flight(stages);
  Simulated result{0, std::vector<int>(stages)};
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t stage = 0; stage < stages; ++stage) {
      if (next[stage] == static_cast<int>(left[stage].size())) continue;
      const Action action = left[stage][static_cast<std::size_t>(next[stage])];
      const int model_stage = action.chunk * shape.stages + static_cast<int>(stage);
      const bool forward = action.kind == Kind::forward;
      std::vector<std::tuple<Kind, int, int>> needed;
      if (forward && model_stage > 0) needed.emplace_back(Kind::forward, action.microbatch, model_stage - 1);
      if (!forward) needed.emplace_back(Kind::forward, action.microbatch, model_stage);
      if (!forward && model_stage + 1 < shape.model_stages())
        needed.emplace_back(Kind::backward, action.microbatch, model_stage + 1);
      int begin = idle_from[stage];
      bool ready = true;
      for (const auto& one : needed) {
        const auto found = done.find(one);
        if (found == done.end()) {
          ready = false;
        } else {
          begin = std::max(begin, found->second);
        }
      }
      if (!ready) continue;
      progress = true;
      ++next[stage];
      idle_from[stage] = begin + (forward ? forward_time : backward_time);
      done[{action.kind, action.microbatch, model_stage}] = idle_from[stage];
      in_flight[stage] += forward ? 1 : -1;
      result.most_in_flight[stage] = std::max(result.most_in_flight[stage], in_flight[stage]);
      result.time = std::max(result.time, idle_from[stage]);
    }
  }
  for (std::size_t stage = 0; stage < stages; ++stage)
    if (next[stage] < static_cast<int>(left[stage].size())) return std::nullopt;
  return result;
}

std::vector<PipelineShape> all_shapes() {
  std::vector<PipelineShape> shapes;
  for (int stages = 2; stages <= 8; ++stages) {
    for (int microbatches = 1; microbatches <= 20; ++microbatches) {
      shapes.push_back({kGPipe, stages, microbatches});
      shapes.push_back({kOneForwardOneBackward, stages, microbatches});
      for (int chunks = 2; chunks <= 4; ++chunks) {
        const PipelineShape shape{kInterleaved, stages, microbatches, chunks};
        if (microbatches <= stages || microbatches % stages == 0) shapes.push_back(shape);
      }
    }
  }
  return shapes;
}

std::string described(const PipelineShape& shape) {
  return std::string(to_string(shape.schedule)) + ", " + std::to_string(shape.stages) + " stages, " +
         std::to_string(shape.microbatches) + " microbatches, " + std::to_string(shape.chunks) + " chunks";
}

TEST(Schedule, EachMicrobatchAndChunkOnceForwardAndThenOnceBackward) {
  for (const PipelineShape& shape : all_shapes()) {
    ASSERT_TRUE(check_shape(shape).ok()) << described(shape);
    for (int stage = 0; stage < shape.stages; ++stage) {
      std::set<std::pair<int, int>> forward, backward;
      for (const Action& action : make_schedule(shape, stage)) {
        ASSERT_TRUE(action.microbatch >= 0 && action.microbatch < shape.microbatches) << described(shape);
        ASSERT_TRUE(action.chunk >= 0 && action.chunk < shape.chunks) << described(shape);
        const std::pair<int, int> pass{action.microbatch, action.chunk};
        if (action.kind == Kind::forward) {
          ASSERT_TRUE(forward.insert(pass).second) << described(shape);
        } else {
          ASSERT_TRUE(forward.contains(pass)) << described(shape);
          ASSERT_TRUE(backward.insert(pass).second) << described(shape);
        }
      }
      const auto passes = static_cast<std::size_t>(shape.microbatches * shape.chunks);
      EXPECT_EQ(forward.size(), passes) << described(shape);
      EXPECT_EQ(backward.size(), passes) << described(shape);
    }
  }
}

// A stage is busy for m · v forwards and backwards; the rest of the time is bubble. It is p − 1 of them, the
// ideal, unless rounds have fewer microbatches than there are stages: then each of the v − 1 turns around the
// ranks waits for p − m more.
TEST(Schedule, NeverDeadlocksAndTakesTheIdealTime) {
  for (const PipelineShape& shape : all_shapes()) {
    const int missing = std::max(0, shape.stages - shape.microbatches) * (shape.chunks - 1);
    const int slots = shape.microbatches * shape.chunks + shape.stages - 1 + missing;
    for (const auto& [forward, backward] : {std::pair{1, 1}, std::pair{1, 2}, std::pair{3, 2}}) {
      const std::optional<Simulated> simulated = simulate(shape, forward, backward);
      ASSERT_TRUE(simulated.has_value()) << described(shape) << ": the stages wait for each other for ever";
      EXPECT_EQ(simulated->time, slots * (forward + backward)) << described(shape);
    }
  }
}

TEST(Schedule, MicrobatchesInFlight) {
  for (const PipelineShape& shape : all_shapes()) {
    const std::optional<Simulated> simulated = simulate(shape, 1, 1);
    ASSERT_TRUE(simulated.has_value());
    for (int stage = 0; stage < shape.stages; ++stage) {
      const int total = shape.microbatches * shape.chunks;
      const int behind = shape.stages - 1 - stage;  // stages
      const int round = std::min(shape.stages, shape.microbatches);
      const int expected = shape.schedule == kGPipe ? total
                           : shape.schedule == kOneForwardOneBackward
                               ? std::min(total, behind + 1)
                               : std::min(total, (shape.chunks - 1) * round + 2 * behind + 1);
      EXPECT_EQ(simulated->most_in_flight[static_cast<std::size_t>(stage)], expected)
          << described(shape) << ", stage " << stage;
    }
  }
}

struct Refusal {
  PipelineShape shape;
  std::string message;
};

TEST(Schedule, ShapesWithoutAScheduleAreRefused) {
  const Refusal refusals[] = {
      {{kGPipe, 1, 4}, "--pipeline-stages 1: a pipeline has at least 2 stages"},
      {{kOneForwardOneBackward, 2, 4, 2},
       "--chunks 2: --schedule 1f1b has one chunk per rank; several are for --schedule interleaved"},
      {{kInterleaved, 2, 4, 1}, "--schedule interleaved: each rank needs at least 2 chunks, not --chunks 1"},
      {{kInterleaved, 4, 10, 2},
       "--microbatches 10: --schedule interleaved takes them in rounds of --pipeline-stages 4; 8 or 12 would "
       "do"},
  };
  for (const Refusal& refusal : refusals) {
    const Status status = check_shape(refusal.shape);
    ASSERT_FALSE(status.ok()) << refusal.message;
    EXPECT_EQ(status.error().message, refusal.message);
  }
}

}  // namespace
}  // namespace lockstep::trainer

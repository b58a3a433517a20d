// Messages between stages, by hand, and over all shapes: what one side sends is what the other side needs.
#include "reference_trainer/modes/pipeline/messages.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lockstep::trainer {
namespace {

constexpr auto kOneForwardOneBackward = PipelineSchedule::one_forward_one_backward;
constexpr auto kInterleaved = PipelineSchedule::interleaved;

std::vector<std::string> names(const PipelineShape& shape, int from, int to) {
  std::vector<std::string> names;
  for (const Message& message : messages_between(shape, from, to)) names.push_back(name_of(shape, message));
  return names;
}

using Names = std::vector<std::string>;

TEST(Messages, ActivationsGoDownAndGradientsUp) {
  const PipelineShape shape{kOneForwardOneBackward, 3, 2};
  EXPECT_EQ(names(shape, 0, 1), (Names{"activation 0", "activation 1"}));
  EXPECT_EQ(names(shape, 1, 2), (Names{"activation 0", "activation 1"}));
  EXPECT_EQ(names(shape, 2, 1), (Names{"gradient 0", "gradient 1"}));
  EXPECT_EQ(names(shape, 1, 0), (Names{"gradient 0", "gradient 1"}));
  EXPECT_EQ(names(shape, 2, 0), Names{});
  EXPECT_EQ(names(shape, 0, 2), Names{});
}

// Of two stages with two chunks each, the first sends activations of both its chunks and gradients to the
// second; the second sends what ends its first chunk around to the first. The order is that of the schedules
// F0.0 F1.0 F0.1 F1.1 B0.1 B1.1 B0.0 B1.0 and F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 B0.0 B1.0.
TEST(Messages, ChunksGoAround) {
  const PipelineShape shape{kInterleaved, 2, 2, 2};
  EXPECT_EQ(names(shape, 0, 1), (Names{"activation 0 chunk 0", "activation 1 chunk 0", "activation 0 chunk 1",
                                       "activation 1 chunk 1", "gradient 0 chunk 0", "gradient 1 chunk 0"}));
  EXPECT_EQ(names(shape, 1, 0), (Names{"activation 0 chunk 1", "activation 1 chunk 1", "gradient 0 chunk 1",
                                       "gradient 1 chunk 1", "gradient 0 chunk 0", "gradient 1 chunk 0"}));
}

TEST(Messages, WhatIsSentIsWhatIsNeeded) {
  for (int stages = 2; stages <= 6; ++stages) {
    for (int chunks = 1; chunks <= 3; ++chunks) {
      const PipelineShape shape{chunks == 1 ? kOneForwardOneBackward : kInterleaved, stages, 2 * stages,
                                chunks};
      std::size_t total = 0;
      for (int from = 0; from < stages; ++from) {
        for (int to = 0; to < stages; ++to) {
          std::vector<Message> sent = messages_between(shape, from, to), needed;
          for (const Action& action : make_schedule(shape, to)) {
            const auto input = input_of(shape, to, action);
            if (input && input->peer == from) needed.push_back(input->message);
          }
          total += sent.size();
          std::sort(sent.begin(), sent.end());
          std::sort(needed.begin(), needed.end());
          EXPECT_EQ(sent, needed) << stages << " stages, " << chunks << " chunks, " << from << " to " << to;
        }
      }
      // One activation and one gradient over each of the boundaries between model stages.
      EXPECT_EQ(total, static_cast<std::size_t>(2 * shape.microbatches * (shape.model_stages() - 1)));
    }
  }
}

}  // namespace
}  // namespace lockstep::trainer

#include "reference_trainer/distributed/failure_message.h"

#include <gtest/gtest.h>

namespace lockstep::trainer {
namespace {

TEST(FailureMessage, PlacesInTheSourceAreLeftOut) {
  EXPECT_EQ(without_source_places(
                "send: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out"),
            "send: Timed out");
  EXPECT_EQ(without_source_places("[enforce fail at /pytorch/gloo/pair.cc:446] op.nbytes. 32 vs 16"),
            "op.nbytes. 32 vs 16");
}

TEST(FailureMessage, OtherBracketsStay) {
  for (const char* message : {"Connection closed by peer [127.0.0.1]:4242", "from [::1]:80: [a, b]", ""})
    EXPECT_EQ(without_source_places(message), message);
}

}  // namespace
}  // namespace lockstep::trainer

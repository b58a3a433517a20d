#include "analyzer/scaling/message_law.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::analyzer {
namespace {

using testing::IsEmpty;

// Messages that take 20 µs and 0.1 ns a byte: 10 GB/s.
ScaleRun run_with(const std::vector<std::int64_t>& sizes, double error = 0) {
  ScaleRun run;
  for (const std::int64_t bytes : sizes) {
    const double exact = 20'000 + 0.1 * static_cast<double>(bytes);
    run.messages.push_back({Operation::all_reduce, 4, bytes, 10, exact * (1 + error)});
    error = -error;
  }
  return run;
}

TEST(MessageLaw, FindsLatencyAndBandwidth) {
  const std::vector<MessageLaw> laws =
      message_laws({run_with({1000, 100'000, 10'000'000}), run_with({1'000'000})});
  ASSERT_EQ(laws.size(), 1U);
  EXPECT_NEAR(laws[0].alpha_ns, 20'000, 1e-6);
  EXPECT_NEAR(laws[0].beta_ns_per_byte, 0.1, 1e-12);
  EXPECT_EQ(laws[0].sizes, 4);
  EXPECT_EQ(laws[0].smallest_bytes, 1000);
  EXPECT_EQ(laws[0].largest_bytes, 10'000'000);
  EXPECT_NEAR(laws[0].worst_error, 0, 1e-9);
}

TEST(MessageLaw, SaysHowFarOffItIs) {
  const std::vector<MessageLaw> laws = message_laws({run_with({1000, 50'000, 400'000, 10'000'000}, 0.05)});
  ASSERT_EQ(laws.size(), 1U);
  EXPECT_NEAR(laws[0].alpha_ns, 20'000, 2'000);
  EXPECT_GT(laws[0].worst_error, 0.02);
  EXPECT_LT(laws[0].worst_error, 0.12);
}

TEST(MessageLaw, IsNotMadeOfTooLittle) {
  EXPECT_THAT(message_laws({run_with({1000, 10'000'000})}), IsEmpty());           // two sizes
  EXPECT_THAT(message_laws({run_with({100'000, 110'000, 120'000})}), IsEmpty());  // all alike
  ScaleRun falling;
  for (const std::int64_t bytes : {1000, 10'000, 100'000})
    falling.messages.push_back({Operation::all_gather, 2, bytes, 1, 1e9 / static_cast<double>(bytes)});
  EXPECT_THAT(message_laws({falling}), IsEmpty());
  EXPECT_THAT(message_laws({}), IsEmpty());
}

TEST(MessageLaw, IsNotMadeOfWhatDoesNotFollowIt) {
  EXPECT_THAT(message_laws({run_with({1000, 50'000, 400'000, 10'000'000}, 0.6)}), IsEmpty());
}

TEST(MessageLaw, HasNoNegativeLatency) {
  ScaleRun run;
  for (const std::int64_t bytes : {1000, 10'000, 100'000})
    run.messages.push_back({Operation::all_gather, 2, bytes, 1, 0.1 * static_cast<double>(bytes) - 5});
  const std::vector<MessageLaw> laws = message_laws({run});
  ASSERT_EQ(laws.size(), 1U);
  EXPECT_EQ(laws[0].alpha_ns, 0);
  EXPECT_GT(laws[0].beta_ns_per_byte, 0);
}

}  // namespace
}  // namespace lockstep::analyzer

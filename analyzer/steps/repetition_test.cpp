// What repeats in sequences of launches.
#include "analyzer/steps/repetition.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::analyzer {
namespace {

// Each letter is a launch.
std::vector<std::uint64_t> launches(std::string_view letters) {
  return {letters.begin(), letters.end()};
}

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Repetition, IsWhatComesAgainAndAgain) {
  const auto found = find_repetition(launches(repeated("abcd", 6)));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->begins, (std::vector<std::size_t>{0, 4, 8, 12, 16, 20}));
  EXPECT_EQ(found->end, 24U) << "the last is whole";
}

TEST(Repetition, OfLayersWithinAStepIsNotTheStep) {
  const std::string step = "e" + repeated("fg", 30) + "l" + repeated("bc", 30) + "o";
  const auto found = find_repetition(launches(repeated(step, 8)));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->begins.size(), 8U);
  EXPECT_EQ(found->begins[1], step.size());
}

TEST(Repetition, BeginsBehindStartUpAndEndsWhereItIsCut) {
  const auto found = find_repetition(launches("xyz" + repeated("abcd", 6) + "ab"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->begins.front(), 3U);
  EXPECT_EQ(found->begins.size(), 6U) << "what is cut is none";
  EXPECT_EQ(found->end, 27U);
}

TEST(Repetition, MayBeInterrupted) {
  const auto found = find_repetition(launches(repeated("abcd", 5) + "abcdsss" + repeated("abcd", 5)));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->begins.size(), 11U);
  EXPECT_EQ(found->begins[6] - found->begins[5], 7U) << "the checkpoint belongs to the step before it";
}

TEST(Repetition, OrderWithinAStretchMayVary) {
  EXPECT_EQ(find_repetition(launches("abcdacbdabdcabcdacdbabcd"))->begins.size(), 6U);
}

TEST(Repetition, OfLittleIsNone) {
  EXPECT_FALSE(find_repetition({}));
  EXPECT_FALSE(find_repetition(launches(repeated("abcd", 4)))) << "four times";
  EXPECT_FALSE(find_repetition(launches(repeated("a", 100)))) << "one launch is no loop";
  EXPECT_FALSE(find_repetition(launches(repeated("abcd", 5) + repeated("x", 20))))
      << "half of it does not repeat";
}

TEST(Repetition, OfChanceIsNone) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint64_t> sequence;
    for (int i = 0; i < 400; ++i) sequence.push_back(random() % 20);
    EXPECT_FALSE(find_repetition(sequence)) << round;
  }
}

// Loops of random bodies, with random launches before and behind: found as they were made.
TEST(Repetition, OfRandomLoopsIsFound) {
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint64_t> body;
    const std::size_t inner = 1 + random() % 4, layers = 1 + random() % 10;
    for (std::size_t i = 0; i < layers * inner; ++i) body.push_back(1 + i % inner);
    body.insert(body.begin(), 100);
    body.push_back(101);
    const std::size_t count = 5 + random() % 20;
    std::vector<std::uint64_t> sequence(random() % body.size(), 500);
    const std::size_t begin = sequence.size();
    for (std::size_t i = 0; i < count; ++i) sequence.insert(sequence.end(), body.begin(), body.end());
    const auto found = find_repetition(sequence);
    ASSERT_TRUE(found) << round;
    ASSERT_EQ(found->begins.size(), count) << round;
    EXPECT_EQ(found->begins.front(), begin);
    for (std::size_t i = 1; i < count; ++i) EXPECT_EQ(found->begins[i] - found->begins[i - 1], body.size());
  }
}

}  // namespace
}  // namespace lockstep::analyzer

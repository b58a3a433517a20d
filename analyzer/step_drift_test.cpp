// Steps that do not settle (find_drift).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "analyzer/steady_steps.h"

namespace lockstep::analyzer {
namespace {

std::vector<StepLength> steps_of(const std::vector<std::int64_t>& lengths) {
  std::vector<StepLength> steps;
  for (const std::int64_t ns : lengths) steps.push_back({static_cast<std::int64_t>(steps.size()), ns, {}});
  return steps;
}

TEST(StepDrift, OfManyStepsIsSaid) {
  std::vector<std::int64_t> growing, settled, walking;
  for (std::int64_t i = 0; i < 40; ++i) {
    growing.push_back(1000 + 10 * i);
    settled.push_back(i < 20 ? 1000 + 20 * i : 1400);
    walking.push_back(i % 20 < 10 ? 1000 : 1400);
  }
  const std::optional<StepDrift> drift = find_drift(steps_of(growing));
  ASSERT_TRUE(drift);
  EXPECT_EQ(drift->first_ns, 1040);
  EXPECT_EQ(drift->last_ns, 1340);
  std::reverse(growing.begin(), growing.end());
  EXPECT_TRUE(find_drift(steps_of(growing))) << "nor where they grow shorter";
  EXPECT_FALSE(find_drift(steps_of(settled))) << "it grew, and stays";
  EXPECT_FALSE(find_drift(steps_of(walking)));
  growing.resize(19);
  EXPECT_FALSE(find_drift(steps_of(growing))) << "of few nobody can tell";
}

// Of few steps a change has to be great.
TEST(StepDrift, OfFewStepsIsSaidWhereItIsGreat) {
  std::vector<std::int64_t> falling, growing, slightly, leap, settled;
  for (std::int64_t i = 0; i < 12; ++i) falling.push_back(20'000'000 - 1'000'000 * i);
  for (int i = 0; i < 17; ++i) growing.push_back(std::llround(1e7 * std::pow(1.1, i)));
  for (std::int64_t i = 0; i < 17; ++i) {
    slightly.push_back(1000 + 25 * i);
    leap.push_back((i < 8 ? 1000 : 2000) + i);
    settled.push_back(std::min<std::int64_t>(1000 + 250 * i, 2000) + i);
  }
  const std::optional<StepDrift> falls = find_drift(steps_of(falling)), grows = find_drift(steps_of(growing));
  ASSERT_TRUE(falls);
  EXPECT_EQ(falls->first_ns, 18'000'000);
  EXPECT_EQ(falls->last_ns, 10'000'000);
  ASSERT_TRUE(grows);
  EXPECT_LT(grows->first_ns * 2, grows->last_ns);
  growing[2] *= 3;
  EXPECT_TRUE(find_drift(steps_of(growing))) << "one slow step hides nothing";
  EXPECT_FALSE(find_drift(steps_of(slightly))) << "a smaller change may be noise";
  EXPECT_FALSE(find_drift(steps_of(leap)));
  EXPECT_FALSE(find_drift(steps_of(settled)));
  falling.resize(8);
  EXPECT_FALSE(find_drift(steps_of(falling))) << "20 to 13 ms: no great change";
  EXPECT_TRUE(find_drift(steps_of({20, 18, 16, 14, 12, 10, 8, 6})));
  EXPECT_FALSE(find_drift(steps_of({20, 18, 16, 14, 12, 10, 8}))) << "too few to tell";
}

// Steps of 2, 5 and 10 % noise, one of them slow; and of lengths that differ by design.
TEST(StepDrift, FewStepsWithNoiseHaveNone) {
  std::mt19937 random(20261125);
  std::normal_distribution<double> normal;
  int of_noise = 0, of_much_noise = 0, of_lengths = 0;
  constexpr int kRuns = 3000;
  for (int run = 0; run < kRuns; ++run) {
    const auto count = static_cast<std::size_t>(8 + run % 12);
    const double sigma = std::vector<double>{0.02, 0.05, 0.1}[static_cast<std::size_t>(run % 3)];
    std::vector<std::int64_t> noise, much, alternating;
    double state = normal(random);
    for (std::size_t i = 0; i < count; ++i) {
      state = 0.6 * state + 0.8 * normal(random);
      noise.push_back(static_cast<std::int64_t>(1e8 * std::exp(sigma * state)));
      much.push_back(static_cast<std::int64_t>(1e8 * std::exp(0.3 * state)));
      const std::size_t period = 2 + static_cast<std::size_t>(run % 3);
      const double length = 1 + static_cast<double>(i % period);
      alternating.push_back(static_cast<std::int64_t>(1e8 * length * std::exp(0.02 * state)));
    }
    noise[random() % count] *= 4;
    if (find_drift(steps_of(noise))) ++of_noise;
    if (find_drift(steps_of(much))) ++of_much_noise;
    if (find_drift(steps_of(alternating))) ++of_lengths;
  }
  EXPECT_LE(of_noise, kRuns / 1000);
  EXPECT_LE(of_much_noise, kRuns * 3 / 100);
  EXPECT_EQ(of_lengths, 0);
}

TEST(StepDrift, NoiseIsNone) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  int found = 0;
  constexpr int kRuns = 1000;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<std::int64_t> lengths;
    double state = normal(random);
    for (int i = 0; i < 40; ++i) {
      state = 0.6 * state + 0.8 * normal(random);
      lengths.push_back(static_cast<std::int64_t>(1e8 * std::exp((run % 2 == 0 ? 0.05 : 0.3) * state)));
    }
    if (find_drift(steps_of(lengths))) ++found;
  }
  EXPECT_LE(found, kRuns / 100);
}

}  // namespace
}  // namespace lockstep::analyzer

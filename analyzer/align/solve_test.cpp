#include "analyzer/align/solve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

namespace lockstep::analyzer {
namespace {

constexpr Nanoseconds kSecond = 1'000'000'000;

// Clocks whose truth is known.
struct TrueClock {
  std::int64_t offset = 0;
  double drift = 0;
  Nanoseconds set_at = std::numeric_limits<Nanoseconds>::max();  // of true time
  std::int64_t set_by = 0;

  Nanoseconds read(Nanoseconds time) const {
    return time + offset + std::llround(drift * static_cast<double>(time)) + (time >= set_at ? set_by : 0);
  }
};

class World {
 public:
  World(unsigned seed, std::size_t clocks, Nanoseconds length) : random_(seed), length_(length) {
    for (std::size_t i = 0; i < clocks; ++i)
      clocks_.push_back(
          {below(10'000 * kSecond) - 5'000 * kSecond, static_cast<double>(below(100)) * 1e-6 - 50e-6});
  }

  // One event of each of two clocks, up to `latency` apart.
  void message(std::uint32_t from, std::uint32_t to, Nanoseconds latency) {
    const Nanoseconds sent = below(length_), heard = sent + 1 + below(latency);
    problem_.precedences.push_back({from, to, clocks_[from].read(sent), clocks_[to].read(heard)});
  }
  void exchange(std::uint32_t a, std::uint32_t b, Nanoseconds latency, int count) {
    for (int i = 0; i < count; ++i) message(a, b, latency), message(b, a, latency);
  }
  TrueClock& clock(std::uint32_t index) { return clocks_[index]; }

  ClockSolution solve(std::uint32_t reference = 0) {
    problem_.reference = reference;
    problem_.spans.clear();
    for (const TrueClock& clock : clocks_) problem_.spans.push_back({clock.read(0), clock.read(length_)});
    return solve_clocks(problem_);
  }

  // How wrong the map is, in ns, at worst of 101 instants; `except`: true times to leave out.
  std::int64_t error(const ClockSolution& solution, std::uint32_t clock, TimeSpan except = {1, 0}) const {
    std::int64_t worst = 0;
    for (int i = 0; i <= 100; ++i) {
      const Nanoseconds time = length_ / 100 * i;
      if (time >= except.begin && time <= except.end) continue;
      const Nanoseconds mapped = solution.clocks[clock].to_reference(clocks_[clock].read(time));
      worst = std::max(worst, std::abs(mapped - clocks_[problem_.reference].read(time)));
    }
    return worst;
  }
  Nanoseconds below(std::int64_t limit) {
    return static_cast<Nanoseconds>(random_() % static_cast<std::uint64_t>(limit));
  }
  ClockProblem& problem() { return problem_; }

 private:
  std::mt19937_64 random_;
  Nanoseconds length_;
  std::vector<TrueClock> clocks_;
  ClockProblem problem_;
};

TEST(SolveClocks, TheTruthIsWithinTheUncertainty) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const std::size_t clocks = 2 + seed % 6;
    World world(seed, clocks, (1 + seed % 20) * kSecond);
    for (std::uint32_t clock = 1; clock < clocks; ++clock) {
      world.exchange(clock - 1, clock, 50'000 + 1000 * (seed % 50), 3 + static_cast<int>(seed % 40));
      if (clock > 1 && seed % 2 == 0) world.exchange(0, clock, 80'000, 10);
    }
    const std::uint32_t reference = seed % static_cast<unsigned>(clocks);
    const ClockSolution solution = world.solve(reference);
    ASSERT_TRUE(solution.consistent) << "seed " << seed;
    for (std::uint32_t clock = 0; clock < clocks; ++clock) {
      ASSERT_TRUE(solution.clocks[clock].related) << "seed " << seed;
      EXPECT_LE(world.error(solution, clock), solution.clocks[clock].uncertainty_ns)
          << "seed " << seed << " clock " << clock;
    }
  }
}

TEST(SolveClocks, ManyTightExchangesMakeItTight) {
  World world(1, 2, 10 * kSecond);
  world.exchange(0, 1, 20'000, 2000);
  const ClockSolution solution = world.solve();
  EXPECT_LE(solution.clocks[1].uncertainty_ns, 2'000);
  EXPECT_LE(world.error(solution, 1), solution.clocks[1].uncertainty_ns);
}

TEST(SolveClocks, AnOffsetAddedToOneClockIsFoundExactly) {
  World world(2, 3, kSecond);
  world.exchange(0, 1, 30'000, 50);
  world.exchange(1, 2, 30'000, 50);
  const ClockSolution before = world.solve();
  constexpr std::int64_t kAdded = 123'456'789'012;
  for (Precedence& precedence : world.problem().precedences) {
    if (precedence.earlier_clock == 2) precedence.earlier += kAdded;
    if (precedence.later_clock == 2) precedence.later += kAdded;
  }
  world.clock(2).offset += kAdded;
  const ClockSolution after = world.solve();
  EXPECT_EQ(after.clocks[2].uncertainty_ns, before.clocks[2].uncertainty_ns);
  const Nanoseconds reading = world.clock(2).read(kSecond / 3);
  EXPECT_NEAR(static_cast<double>(after.clocks[2].to_reference(reading)),
              static_cast<double>(before.clocks[2].to_reference(reading - kAdded)), 2);
}

TEST(SolveClocks, OneSideAloneRelatesNothing) {
  World world(3, 2, kSecond);
  for (int i = 0; i < 20; ++i) world.message(0, 1, 10'000);
  const ClockSolution solution = world.solve();
  EXPECT_TRUE(solution.consistent);
  EXPECT_FALSE(solution.clocks[1].related);
  EXPECT_TRUE(solution.clocks[0].related);
}

TEST(SolveClocks, ARingOfOneWayMessagesBoundsAllOfIt) {
  World world(4, 3, kSecond / 10);
  for (int i = 0; i < 50; ++i) {
    world.message(0, 1, 10'000);
    world.message(1, 2, 10'000);
    world.message(2, 0, 10'000);
  }
  const ClockSolution solution = world.solve();
  for (std::uint32_t clock = 1; clock < 3; ++clock) {
    ASSERT_TRUE(solution.clocks[clock].related);
    EXPECT_LE(world.error(solution, clock), solution.clocks[clock].uncertainty_ns);
  }
}

TEST(SolveClocks, AClockNobodyMeetsIsUnrelated) {
  World world(5, 4, kSecond);
  world.exchange(0, 1, 10'000, 10);
  world.exchange(2, 3, 10'000, 10);
  const ClockSolution solution = world.solve();
  EXPECT_TRUE(solution.clocks[1].related);
  EXPECT_FALSE(solution.clocks[2].related);
  EXPECT_FALSE(solution.clocks[3].related);
}

TEST(SolveClocks, ASetClockIsFollowed) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    World world(seed, 3, 4 * kSecond);
    TrueClock& set = world.clock(1);
    set.set_at = 2 * kSecond + static_cast<Nanoseconds>(seed) * 1'000'000;
    set.set_by = seed % 2 == 0 ? 7'000'000 : -7'000'000;
    world.exchange(0, 1, 30'000, 400);
    world.exchange(1, 2, 30'000, 400);  // 2 is reached through the clock that is set
    const ClockSolution solution = world.solve();
    ASSERT_TRUE(solution.consistent) << "seed " << seed;
    const TimeSpan doubtful{set.set_at - 100'000'000, set.set_at + 100'000'000};
    for (std::uint32_t clock = 1; clock < 3; ++clock) {
      ASSERT_TRUE(solution.clocks[clock].related);
      EXPECT_GE(solution.clocks[clock].to_reference.pieces().size(), 2u);
      EXPECT_LE(world.error(solution, clock, doubtful), solution.clocks[clock].uncertainty_ns)
          << "seed " << seed << " clock " << clock;
    }
  }
}

TEST(SolveClocks, ACircleThatCantBeIsNotSolved) {
  // Each clock before the next, by more than the pairs leave open.
  ClockProblem problem;
  problem.spans = {{0, 100}, {0, 100}, {0, 100}};
  const auto both = [&](std::uint32_t a, std::uint32_t b, std::int64_t offset) {
    problem.precedences.push_back({a, b, 50, 50 + offset + 5});
    problem.precedences.push_back({b, a, 50 + offset - 5, 50});
  };
  both(0, 1, 0);
  both(1, 2, 0);
  both(0, 2, 1000);
  const ClockSolution solution = solve_clocks(problem);
  EXPECT_FALSE(solution.consistent);
  EXPECT_FALSE(solution.clocks[1].related);
}

TEST(ClockMap, NeverFalls) {
  ClockMap map({{0, 0, 0, 0}, {1000, 1000, -500, -100e-6}});
  Nanoseconds last = map(-5);
  for (Nanoseconds reading = -4; reading < 3000; ++reading) {
    EXPECT_GE(map(reading), last);
    last = map(reading);
  }
  EXPECT_EQ(map(999), 999);
  EXPECT_EQ(map(1200), 999);
  EXPECT_EQ(map(2000), 1500);
}

}  // namespace
}  // namespace lockstep::analyzer

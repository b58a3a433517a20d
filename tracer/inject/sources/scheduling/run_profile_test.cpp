#include "tracer/inject/sources/scheduling/run_profile.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace lockstep::tracer::scheduling {
namespace {

constexpr trace::Nanoseconds kMs = 1'000'000;

// One interval of 10 ms after another; each thread's counters as the kernel keeps them.
class Looks {
 public:
  explicit Looks(std::size_t threads) : on_cpu_(threads), waited_(threads) {
    profile_.begin(0);
    for (std::size_t slot = 0; slot < threads; ++slot) profile_.follow(slot, 0, 0, std::nullopt);
  }
  struct Thread {
    std::uint64_t ran_ms = 0;
    std::uint64_t told_wait_ms = 0;  // that was over in this interval, and so is counted
  };
  void look(const std::vector<Thread>& threads) {
    time_ += 10 * kMs;
    ASSERT_TRUE(profile_.begin_interval(time_));
    for (std::size_t slot = 0; slot < threads.size(); ++slot) {
      on_cpu_[slot] += threads[slot].ran_ms * kMs;
      waited_[slot] += threads[slot].told_wait_ms * kMs;
      EXPECT_EQ(profile_.ran(slot, on_cpu_[slot]), threads[slot].ran_ms > 0);
      if (profile_.should_ask(slot)) profile_.waited(slot, waited_[slot]);
    }
    while (const auto interval = profile_.take(false)) taken_.push_back(*interval);
  }
  std::vector<RunInterval> all() {
    while (const auto interval = profile_.take(true)) taken_.push_back(*interval);
    return taken_;
  }
  RunProfile& profile() { return profile_; }

 private:
  RunProfile profile_;
  std::vector<std::uint64_t> on_cpu_, waited_;
  std::vector<RunInterval> taken_;
  trace::Nanoseconds time_ = 0;
};

std::vector<std::uint64_t> waits_ms(const std::vector<RunInterval>& intervals) {
  std::vector<std::uint64_t> result;
  for (const RunInterval& one : intervals) result.push_back(one.runnable_ns / kMs);
  return result;
}

TEST(RunProfile, TellsWhatThreadsRanInEachInterval) {
  Looks looks(2);
  looks.look({{10}, {3}});
  looks.look({{0}, {0}});
  const std::vector<RunInterval> all = looks.all();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].begin, 0);
  EXPECT_EQ(all[0].end, 10 * kMs);
  EXPECT_EQ(all[0].on_cpu_ns, 13U * kMs);
  EXPECT_EQ(all[1].on_cpu_ns, 0U);
  EXPECT_EQ(all[1].runnable_ns, 0U);
}

TEST(RunProfile, GivesAWaitThatIsToldLateBackToTheIntervalsInWhichTheThreadDidNotRun) {
  Looks looks(1);
  looks.look({{10}});
  looks.look({{6}});  // ready from here on: 4 ms of this interval, 20 of the next, 3 of the last
  looks.look({{0}});
  looks.look({{0}});
  looks.look({{7, 27}});
  EXPECT_EQ(waits_ms(looks.all()), (std::vector<std::uint64_t>{0, 4, 10, 10, 3}));
}

TEST(RunProfile, AThreadThatSleptHasNotWaited) {
  Looks looks(1);
  looks.look({{5}});
  looks.look({{0}});
  looks.look({{0}});
  looks.look({{8, 1}});  // awake again, it waited a moment; when, nobody knows
  EXPECT_EQ(waits_ms(looks.all()), (std::vector<std::uint64_t>{1, 0, 0, 0}));
}

TEST(RunProfile, SumsThreadsAndNamesTheLongestWaitOfOne) {
  Looks looks(3);
  looks.look({{0}, {0}, {0}});
  looks.look({{2, 18}, {6, 14}, {10}});
  const std::vector<RunInterval> all = looks.all();
  EXPECT_EQ(all[0].runnable_ns, 20U * kMs);
  EXPECT_EQ(all[0].waited_ns, 10U * kMs);
  EXPECT_EQ(all[1].runnable_ns, 12U * kMs);
  EXPECT_EQ(all[1].waited_ns, 8U * kMs);
}

// What is waited for when the kernel is asked is told the next time: it is not taken from what was before.
TEST(RunProfile, AWaitThatGoesOnIsNotTakenFromTheOneBefore) {
  Looks looks(1);
  looks.look({{10}});
  looks.look({{0}});      // waits for all of this interval
  looks.look({{2, 10}});  // ran first, and waits again
  looks.look({{0}});
  looks.look({{10, 18}});
  EXPECT_EQ(waits_ms(looks.all()), (std::vector<std::uint64_t>{0, 10, 8, 10, 0}));
}

TEST(RunProfile, AsksThreadsThatRunInPartAndNoOthers) {
  RunProfile profile;
  profile.begin(0);
  profile.follow(0, 0, 0, std::nullopt);
  auto asks = [&, time = 0 * kMs, ran = std::uint64_t{0}](std::uint64_t ms) mutable {
    EXPECT_TRUE(profile.begin_interval(time += 10 * kMs));
    profile.ran(0, ran += ms * kMs);
    const bool ask = profile.should_ask(0);
    if (ask) profile.waited(0, 0);
    return ask;
  };
  EXPECT_FALSE(asks(10));
  EXPECT_TRUE(asks(5));
  EXPECT_FALSE(asks(0));
  EXPECT_FALSE(asks(0));
  EXPECT_TRUE(asks(10));  // it did not run before
  EXPECT_FALSE(asks(10));
}

TEST(RunProfile, AThreadFoundAfterItRanFillsTheIntervalsSinceItWasBorn) {
  Looks looks(1);
  for (int n = 0; n < 4; ++n) looks.look({{0}});
  looks.profile().follow(1, 10 * kMs, 0, 20 * kMs);
  const std::vector<RunInterval> all = looks.all();
  EXPECT_EQ(all[0].on_cpu_ns, 0U);
  EXPECT_EQ(all[1].on_cpu_ns, 0U);
  EXPECT_EQ(all[2].on_cpu_ns, 5U * kMs);
  EXPECT_EQ(all[3].on_cpu_ns, 5U * kMs);
}

// A thread that runs, waits and sleeps as it pleases, a millisecond at a time: nothing that it ran is lost or
// counted twice, and no interval holds more of it than its length.
TEST(RunProfile, SumsAreExactWhateverAThreadDoes) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    RunProfile profile;
    profile.begin(0);
    profile.follow(0, 0, 0, std::nullopt);
    std::uint64_t ran = 0, waiting = 0, told = 0, told_when_asked = 0;
    std::vector<RunInterval> all;
    int state = 0, left = 0;
    for (int ms = 1; ms <= 2000; ++ms) {
      if (left-- <= 0) {
        const int next = static_cast<int>(random() % 3);  // runs, waits, sleeps
        if (state == 1 && next != 0) continue;            // a wait ends with running
        if (next == 0) told += std::exchange(waiting, 0);
        state = next;
        left = static_cast<int>(random() % 60);
      }
      if (state == 0) ran += kMs;
      if (state == 1) waiting += kMs;
      if (ms % 10 != 0) continue;
      ASSERT_TRUE(profile.begin_interval(ms * kMs));
      profile.ran(0, ran);
      if (profile.should_ask(0)) profile.waited(0, told_when_asked = told);
      while (const auto one = profile.take(false)) all.push_back(*one);
    }
    while (const auto one = profile.take(true)) all.push_back(*one);
    std::uint64_t on_cpu = 0, runnable = 0;
    trace::Nanoseconds end = 0;
    for (const RunInterval& one : all) {
      EXPECT_EQ(one.begin, end);
      end = one.end;
      EXPECT_LE(one.on_cpu_ns + one.runnable_ns, static_cast<std::uint64_t>(one.end - one.begin));
      EXPECT_EQ(one.waited_ns, one.runnable_ns);
      on_cpu += one.on_cpu_ns;
      runnable += one.runnable_ns;
    }
    EXPECT_EQ(on_cpu, ran);
    EXPECT_LE(runnable, told_when_asked);
  }
}

RunInterval interval(int begin_ms, int end_ms, int ran_ms, int waited_ms) {
  const auto ns = [](int ms) { return static_cast<std::uint64_t>(ms * kMs); };
  return {begin_ms * kMs, end_ms * kMs, ns(ran_ms), ns(waited_ms), ns(waited_ms)};
}

TEST(IntervalMerger, JoinsWhatSleepsAndWhatRunsAllTheTime) {
  IntervalMerger merger;
  std::vector<RunInterval> joined;
  const auto add = [&](const RunInterval& one) {
    if (const auto done = merger.add(one)) joined.push_back(*done);
  };
  for (int n = 0; n < 30; ++n) add(interval(n * 10, n * 10 + 10, 10, 0));  // 300 ms: one of 250, and the rest
  for (int n = 30; n < 40; ++n) add(interval(n * 10, n * 10 + 10, 0, 0));
  add(interval(400, 410, 4, 2));
  add(interval(410, 420, 4, 2));
  add(interval(500, 510, 0, 0));  // nobody looked in between
  add(interval(510, 520, 0, 0));
  if (const auto last = merger.finish()) joined.push_back(*last);
  ASSERT_EQ(joined.size(), 6U);
  EXPECT_EQ(joined[0].end, 250 * kMs);
  EXPECT_EQ(joined[0].on_cpu_ns, 250U * kMs);
  EXPECT_EQ(joined[1].end, 300 * kMs);
  EXPECT_EQ(joined[2].begin, 300 * kMs);
  EXPECT_EQ(joined[2].end, 400 * kMs);
  EXPECT_EQ(joined[2].on_cpu_ns, 0U);
  EXPECT_EQ(joined[3].end, 410 * kMs);
  EXPECT_EQ(joined[4].end, 420 * kMs);
  EXPECT_EQ(joined[4].runnable_ns, 2U * kMs);
  EXPECT_EQ(joined[5].begin, 500 * kMs);
  EXPECT_EQ(joined[5].end, 520 * kMs);
  EXPECT_FALSE(merger.finish().has_value());
}

}  // namespace
}  // namespace lockstep::tracer::scheduling

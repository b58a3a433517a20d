#include "analyzer/diagnose/host_shortage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::analyzer {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kOrigin = 5'000;

// Ranks with one step of 100 ms each, of which their threads run `on_ms` and wait `waits_ms`, one of them
// `longest_ms`.
class Host {
 public:
  Host() { report_.origin_aligned_ns = kOrigin; }
  Host& rank(std::int64_t on_ms, std::int64_t waits_ms, std::int64_t longest_ms, const std::string& cores,
             const std::string& host = "node0", double quota = 0) {
    RankTrace trace;
    trace.rank = static_cast<std::int32_t>(job_.ranks.size());
    trace.host = host;
    trace.core_set = cores;
    trace.core_quota = quota;
    trace.scheduling = {{kOrigin, 0, 0, 0, false},
                        {kOrigin + 100 * kMs, on_ms * kMs, waits_ms * kMs, longest_ms * kMs, true},
                        {kOrigin + 900 * kMs, on_ms * kMs, waits_ms * kMs, longest_ms * kMs, true}};
    StepReport step;
    step.rank = trace.rank;
    step.end_ns = 100 * kMs;
    report_.steps.push_back(step);
    RankReport rank;
    rank.rank = trace.rank;
    rank.end_ns = 900 * kMs;  // more than the steps: it does not count
    rank.measures.window_ns = 100 * kMs;
    report_.ranks.push_back(rank);
    job_.ranks.push_back(std::move(trace));
    return *this;
  }
  std::vector<HostShortage> find() const { return find_host_shortages(job_, report_); }
  Report& report() { return report_; }

 private:
  Job job_;
  Report report_;
};

TEST(HostShortage, EightRanksOnTwoCoresAreOneShortage) {
  Host host;
  for (int rank = 0; rank < 8; ++rank) host.rank(25, 55, 50, "0-1");
  const std::vector<HostShortage> found = host.find();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].host, "node0");
  EXPECT_THAT(found[0].ranks, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(found[0].cores, 2);
  EXPECT_THAT(found[0].wanted, DoubleNear(6.4, 1e-9));
  EXPECT_THAT(found[0].share, DoubleNear(0.5, 1e-9));
  EXPECT_EQ(found[0].waited_ns, 400 * kMs);
  EXPECT_FALSE(found[0].by_others());
  EXPECT_EQ(shortage_of(found, 3), &found[0]);
  EXPECT_EQ(shortage_of(found, 8), nullptr);
}

TEST(HostShortage, RanksThatFindTheirCoresTakenByOthersSaySo) {
  const std::vector<HostShortage> found = Host().rank(70, 30, 30, "0-1").rank(75, 25, 25, "0-1").find();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].by_others());
}

// Two threads of each wait at once, while other programs run: together they want more cores than there are,
// and have half of them.
TEST(HostShortage, RanksThatGetHalfOfTheCoresAreNotWhoHasThem) {
  const std::vector<HostShortage> found = Host().rank(50, 70, 45, "0-1").rank(55, 65, 45, "0-1").find();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].wanted, DoubleNear(2.4, 1e-9));
  EXPECT_THAT(found[0].got, DoubleNear(1.05, 1e-9));
  EXPECT_TRUE(found[0].by_others());
}

TEST(HostShortage, AFullHostOnWhichNobodyWaitsIsNone) {
  EXPECT_THAT(Host().rank(98, 2, 2, "0-1").rank(97, 2, 2, "0-1").find(), IsEmpty());
}

// The other one is no shortage of the host: it is that rank's own matter.
TEST(HostShortage, OneRankOfTwoThatWaitsIsNone) {
  EXPECT_THAT(Host().rank(98, 1, 1, "0-1").rank(60, 40, 40, "0-1").find(), IsEmpty());
}

TEST(HostShortage, RanksPinnedToCoresOfTheirOwnShareNothing) {
  const std::vector<HostShortage> found = Host()
                                              .rank(60, 120, 40, "0")
                                              .rank(99, 0, 0, "1")
                                              .rank(60, 120, 40, "2,4")
                                              .rank(50, 110, 50, "4-5")
                                              .find();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found[0].ranks, ElementsAre(0));
  EXPECT_EQ(found[0].cores, 1);
  EXPECT_THAT(found[1].ranks, ElementsAre(2, 3));
  EXPECT_EQ(found[1].cores, 3);
}

TEST(HostShortage, HostsCountApartAndALimitOfTheControlGroupCounts) {
  const std::vector<HostShortage> found = Host()
                                              .rank(140, 120, 40, "0-7", "node0", 1.5)
                                              .rank(60, 120, 40, "0-7", "node1")
                                              .rank(99, 0, 0, "0-7", "node2")
                                              .find();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].cores, 1.5);
  EXPECT_FALSE(found[0].by_others());
  EXPECT_EQ(found[1].host, "node1");
  EXPECT_TRUE(found[1].by_others());
}

TEST(HostShortage, WithoutStepsTheWholeWindowCounts) {
  Host host;
  host.rank(25, 55, 45, "0");
  host.report().steps.clear();
  const std::vector<HostShortage> found = host.find();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].share, DoubleNear(0.05, 1e-9));
}

// Seen of two ranks that train beside two teachers, which hardly run: the lower median was theirs.
TEST(HostShortage, RanksThatHardlyRunSayNothingOfTheCores) {
  Host host;
  host.rank(50, 30, 20, "0-1").rank(2, 1, 1, "0-1").rank(3, 1, 1, "0-1").rank(50, 30, 20, "0-1");
  const std::vector<HostShortage> found = host.find();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].ranks, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(found[0].share, DoubleNear(0.2, 1e-9));
  EXPECT_EQ(found[0].busy, 2U);
  Host beside_one;  // that hardly runs: the share is the other one's, and not of who waits less
  beside_one.rank(2, 1, 1, "0-1").rank(50, 30, 20, "0-1");
  ASSERT_EQ(beside_one.find().size(), 1U);
  EXPECT_EQ(beside_one.find()[0].share_of, 1);
  EXPECT_EQ(beside_one.find()[0].busy, 1U);
  Host rested;
  rested.rank(50, 1, 1, "0-1").rank(2, 7, 6, "0-1").rank(3, 6, 5, "0-1").rank(50, 1, 1, "0-1");
  EXPECT_THAT(rested.find(), IsEmpty()) << "a thread that rarely wants a core may wait for it";
}

// Seen of a parameter server, on which one rank of three has steps: the loss was more than its window.
TEST(HostShortage, OfARankThatHasNoWindowNothingIsLost) {
  Host host;
  host.rank(50, 50, 40, "0-1").rank(50, 50, 45, "0-1").rank(50, 50, 30, "0-1");
  EXPECT_EQ(host.find().at(0).waited_ns, 115 * kMs);
  host.report().steps.pop_back();  // the last rank's
  host.report().ranks[2].measures.window_ns = 0;
  const std::vector<HostShortage> found = host.find();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].ranks, ElementsAre(0, 1, 2)) << "it wants their cores";
  EXPECT_EQ(found[0].waited_ns, 85 * kMs);
  host.report().ranks[0].measures.known = false;
  EXPECT_EQ(host.find().at(0).waited_ns, 45 * kMs) << "its record has holes";
  host.report().ranks[1].measures.window_ns = 20 * kMs;
  EXPECT_EQ(host.find().at(0).waited_ns, 20 * kMs) << "no more than the window";
}

TEST(HostShortage, WhatWasNotRecordedOrMakesNoSenseIsNone) {
  EXPECT_THAT(Host().rank(10, 80, 80, "").find(), IsEmpty());
  EXPECT_THAT(find_host_shortages(Job{}, Report{}), IsEmpty());
  EXPECT_THAT(Host().rank(10, 80, 80, "x").find(), IsEmpty());
}

}  // namespace
}  // namespace lockstep::analyzer

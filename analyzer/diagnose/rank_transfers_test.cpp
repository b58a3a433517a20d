// A rank is late for what it moves data longer: its link, or more data?
#include "analyzer/diagnose/rank_transfers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kMegabyte = 1'000'000;

// What a pair of ranks gathers in a step. 0 ns: nothing; 0 bytes: nobody knows.
struct Gather {
  Nanoseconds takes = 0;
  std::int64_t bytes = 0;
};

// Thirty steps of eight ranks, on one host by default. Pairs gather, then all reduce; who has gathered comes
// to that.
Report pairs_that_gather(
    const std::function<Gather(int pair)>& gather_of,
    const std::function<const char*(std::int32_t rank)>& host_of = [](std::int32_t) { return "a"; }) {
  JobBuilder job;
  std::vector<std::uint32_t> pairs;
  std::vector<std::int32_t> ranks;
  for (std::int32_t pair = 0; pair < 4; ++pair) {
    pairs.push_back(job.group("tp" + std::to_string(pair), {2 * pair, 2 * pair + 1}));
    ranks.insert(ranks.end(), {2 * pair, 2 * pair + 1});
  }
  const std::uint32_t all = job.group("dp", ranks);
  Nanoseconds begin = 0;
  for (int step = 0; step < 30; ++step) {
    std::vector<Nanoseconds> ready;
    for (const std::int32_t rank : ranks) {
      const Gather gather = gather_of(rank / 2);
      RankBuilder& one = job.rank(rank);
      one.trace().host = host_of(rank);
      // Of a pair the same one is never the later one twice.
      const Nanoseconds computed = begin + 5000 * us + ((step + rank) % 3) * us, gathers = begin + 5002 * us;
      one.compute(begin, computed).launched(begin, begin + 1);
      if (gather.takes > 0) {
        one.collective(Operation::all_gather, computed, gathers + gather.takes).launched(begin, begin + 2);
        one.in_group(pairs[static_cast<std::size_t>(rank / 2)]);
        if (gather.bytes > 0) one.bytes(gather.bytes);
      }
      ready.push_back(gathers + gather.takes + ((step * 5 + rank * 3) % 7) * us);
    }
    const Nanoseconds end = *std::max_element(ready.begin(), ready.end()) + 200 * us;
    for (const std::int32_t rank : ranks) {
      job.rank(rank)
          .all_reduce(ready[static_cast<std::size_t>(rank)], end)
          .launched(begin, begin + 3)
          .bytes(kMegabyte)
          .in_group(all);
      job.rank(rank).step(step, begin, end + 10 * us);
    }
    begin = end + 10 * us;
  }
  return report_of(job);
}

void expect_late(const Report& report, const std::string& reason, const std::string& title) {
  EXPECT_THAT(codes_of(report.findings), Not(Contains("slow_link_of_rank")));
  const Finding late = finding(report, "straggler_persistent");
  EXPECT_GE(late.rank.value_or(0), 6);
  EXPECT_EQ(late.reason, reason);
  EXPECT_THAT(late.title, HasSubstr(title));
}

TEST(RankTransfers, OfMoreDataAreNoSlowLink) {
  const Report report = pairs_that_gather([](int pair) {
    return pair == 3 ? Gather{1500 * us, 64 * kMegabyte} : Gather{150 * us, 64 * kMegabyte / 10};
  });
  expect_late(report, "more_data", "moves more data, for 1.35 ms longer: the others wait for it");
  EXPECT_THAT(finding(report, "straggler_persistent").evidence,
              Contains("its operations carry 65.0 MB in a step, those of the median of the others 7.40 MB"));
}

TEST(RankTransfers, OfOperationsThatTheOthersDoNotHaveAreNoSlowLink) {
  expect_late(pairs_that_gather([](int pair) {
                return pair == 3 ? Gather{1500 * us, 64 * kMegabyte} : Gather{};
              }),
              "more_data", "moves more data, for 1.50 ms longer");
}

TEST(RankTransfers, AreNoSlowLinkWhereSizesAreNotKnown) {
  expect_late(pairs_that_gather([](int pair) {
                return Gather{(pair == 3 ? 1500 : 150) * us, 0};
              }),
              "unknown", "moves data for 1.35 ms longer, and why is not known");
}

TEST(RankTransfers, OfOneSizeThatTakeLongerAreASlowLink) {
  const Report report = pairs_that_gather([](int pair) {
    return Gather{(pair == 3 ? 1500 : 150) * us, 64 * kMegabyte};
  });
  const Finding link = finding(report, "slow_link_of_rank");
  EXPECT_GE(link.rank.value_or(0), 6);
  EXPECT_THAT(codes_of(report.findings), Not(Contains("straggler_persistent")));
}

// Of a pair on two hosts both take as long: other pairs on two hosts show that it is slow, and between which.
TEST(RankTransfers, OfAPairOnTwoHostsAreALinkBetweenThem) {
  const Report report = pairs_that_gather(
      [](int pair) {
        return Gather{(pair == 3 ? 1500 : 150) * us, 64 * kMegabyte};
      },
      [](std::int32_t rank) { return rank % 2 == 0 ? "a" : "b"; });
  EXPECT_THAT(finding(report, "slow_link_of_rank").remedy, HasSubstr("ethtool"));
}

// What is longer in one operation and shorter in the next is noise.
TEST(RankTransfers, ThatVaryAreNoSlower) {
  Report report;
  StepTable steps;
  steps.ranks = {0, 1, 2, 3};
  for (int step = 0; step < 10; ++step) {
    steps.steps.push_back(step);
    CollectiveReport all_reduce;
    all_reduce.step = step;
    all_reduce.operation = Operation::all_reduce;
    all_reduce.bytes = kMegabyte;
    for (std::int32_t rank = 0; rank < 4; ++rank) {
      const std::int64_t varies = rank != 0 ? 0 : step % 2 == 0 ? 50 : -50;
      all_reduce.ranks.push_back({.rank = rank, .transfer_ns = 100 + varies});
    }
    report.collectives.push_back(std::move(all_reduce));
  }
  EXPECT_EQ(transfers_of(report, steps, 0).slower_ns, 0);
  for (CollectiveReport& one : report.collectives) one.ranks[0].transfer_ns += 30;
  EXPECT_EQ(transfers_of(report, steps, 0).slower_ns, 30);
  EXPECT_EQ(transfers_of(report, steps, 0).bytes, kMegabyte);
}

}  // namespace
}  // namespace lockstep::analyzer

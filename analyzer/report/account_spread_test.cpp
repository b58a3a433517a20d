#include "analyzer/report/account_spread.h"

#include <gtest/gtest.h>

#include <limits>

#include "analyzer/report/sample_reports.h"

namespace lockstep::analyzer {
namespace {

TEST(AccountSpread, HasWhatAnyRankDidInTheOrderOfItsLife) {
  const std::vector<SpendingSpread> spread = spread_over_ranks(account_of_ranks(5));
  ASSERT_EQ(spread.size(), 3U);
  EXPECT_EQ(spread[0].spending, Spending::start_up);
  EXPECT_EQ(spread[1].spending, Spending::steady);
  EXPECT_EQ(spread[2].spending, Spending::checkpoint);
}

// Rank r starts up for r + 1 s of 100 s; the last one alone saves a checkpoint.
TEST(AccountSpread, NamesTheRanksOfTheExtremes) {
  const std::vector<SpendingSpread> spread = spread_over_ranks(account_of_ranks(5));
  ASSERT_EQ(spread.size(), 3U);
  EXPECT_EQ(spread[0].least_ns, 1'000'000'000);
  EXPECT_EQ(spread[0].least_rank, 0);
  EXPECT_EQ(spread[0].median_ns, 3'000'000'000);
  EXPECT_EQ(spread[0].mean_ns, 3'000'000'000);
  EXPECT_EQ(spread[0].most_ns, 5'000'000'000);
  EXPECT_EQ(spread[0].most_rank, 4);
  EXPECT_DOUBLE_EQ(spread[0].share, 0.03);
  EXPECT_EQ(spread[2].least_ns, 0);
  EXPECT_EQ(spread[2].least_rank, 0);
  EXPECT_EQ(spread[2].median_ns, 0);
  EXPECT_EQ(spread[2].most_ns, 10'000'000'000);
  EXPECT_EQ(spread[2].most_rank, 4);
}

TEST(AccountSpread, OfRanksThatSpentAsMuchTheFirstIsNamed) {
  AccountReport account = account_of_ranks(5);
  for (RankAccount& rank : account.ranks) rank.spent[Spending::start_up] = rank.rank < 2 ? 1 : 7;
  EXPECT_EQ(spread_over_ranks(account)[0].most_rank, 2);
  EXPECT_EQ(spread_over_ranks(account)[0].least_rank, 0);
}

TEST(AccountSpread, IsEmptyWithoutAnAccount) {
  EXPECT_TRUE(spread_over_ranks({}).empty());
}

TEST(AccountSpread, TheMeanIsExact) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  AccountReport account;
  account.ranks.resize(1);
  account.spent.ns[static_cast<std::size_t>(Spending::steady)] = kMost;
  account.ranks[0].spent = account.spent;
  EXPECT_EQ(spread_over_ranks(account).at(0).mean_ns, kMost);
  account.ranks.resize(3);
  account.spent.ns[static_cast<std::size_t>(Spending::steady)] = 5;
  EXPECT_EQ(spread_over_ranks(account).at(0).mean_ns, 2);  // to the nearest
}

}  // namespace
}  // namespace lockstep::analyzer

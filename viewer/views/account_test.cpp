#include "viewer/views/account.h"

#include <gtest/gtest.h>

#include <limits>

namespace lockstep::viewer {
namespace {

using analyzer::Account;
using analyzer::Spending;

// 10 s of start-up, 80 of steady steps, 10 of a checkpoint.
Account account() {
  Account spent;
  spent[Spending::start_up] = 10'000'000'000;
  spent[Spending::steady] = 80'000'000'000;
  spent[Spending::checkpoint] = 10'000'000'000;
  return spent;
}

TEST(AccountView, ABarHasWhatTookTimeInTheOrderOfARunsLife) {
  const std::vector<AccountPart> parts = account_parts(account());
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].spending, Spending::start_up);
  EXPECT_EQ(parts[1].spending, Spending::steady);
  EXPECT_EQ(parts[2].spending, Spending::checkpoint);
  EXPECT_DOUBLE_EQ(parts[0].from, 0);
  EXPECT_DOUBLE_EQ(parts[1].from, 0.1);
  EXPECT_DOUBLE_EQ(parts[1].to, 0.9);
  EXPECT_DOUBLE_EQ(parts[2].to, 1);
  EXPECT_TRUE(account_parts({}).empty());
}

TEST(AccountView, APlaceOnABarIsOfOnePart) {
  const std::vector<AccountPart> parts = account_parts(account());
  EXPECT_EQ(part_at(parts, 0), Spending::start_up);
  EXPECT_EQ(part_at(parts, 0.5), Spending::steady);
  EXPECT_EQ(part_at(parts, 0.95), Spending::checkpoint);
  EXPECT_EQ(part_at(parts, -0.01), std::nullopt);
  EXPECT_EQ(part_at(parts, 1.01), std::nullopt);
}

TEST(AccountView, TimesAreExact) {
  EXPECT_EQ(describe(account(), Spending::checkpoint, "rank 4"),
            "checkpoint\n10.0 s (10,000,000,000 ns)\n10.0 % of the time of rank 4");
}

TEST(AccountView, OverTheRanksThoseThatDifferAreNamed) {
  analyzer::SpendingSpread spread;
  spread.spending = Spending::checkpoint;
  spread.mean_ns = 2'000;
  spread.most_ns = 10'000;
  spread.most_rank = 4;
  EXPECT_EQ(describe(spread),
            "checkpoint\nmean of the ranks: 2.00 µs (2,000 ns)\nleast: 0 (0 ns)\nmedian: 0 (0 ns)\n"
            "most: 10.0 µs (10,000 ns) on rank 4");
}

// Of a damaged file that reaches from one end of time to the other.
TEST(AccountView, PartsOfAllTimeThatThereIsFillTheBar) {
  analyzer::Account spent;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  spent.ns[static_cast<std::size_t>(analyzer::Spending::steady)] = kMost;
  spent.ns[static_cast<std::size_t>(analyzer::Spending::shutdown)] = kMost;
  const std::vector<AccountPart> parts = account_parts(spent);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_DOUBLE_EQ(parts[0].to, 0.5);
  EXPECT_DOUBLE_EQ(parts[1].to, 1);
}

}  // namespace
}  // namespace lockstep::viewer

// Where the run's wall time went.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "analyzer/report/quantity.h"
#include "tests/temporary_folder.h"
#include "viewer/journey/journey.h"
#include "viewer/journey/runs.h"
#include "viewer/opening/open_run.h"
#include "viewer/testing/job_without_times.h"
#include "viewer/testing/scene_of.h"

namespace lockstep::viewer::journey {
namespace {

using testing::HasSubstr;

TEST_F(Journey, TheAccountHasEachWayOfSpendingTimeAndEachRank) {
  const test::TemporaryFolder folder;
  write_run(folder.path());
  const auto scene = open_run({folder.path().string()}).value();
  open(*scene);
  const analyzer::AccountReport& account = scene->report().account;
  ASSERT_EQ(account.ranks.size(), static_cast<std::size_t>(kRunRanks));
  play([&](User& user) {
    user.show("Account");
    const std::string text = user.drawn_text();
    if (account.goodput) {
      EXPECT_THAT(text, HasSubstr("Goodput " + analyzer::format_share(*account.goodput)));
    }
    for (const analyzer::Spending spending : analyzer::kSpendingsByLife) {
      if (account.spent[spending] == 0) continue;
      EXPECT_THAT(text, HasSubstr(analyzer::title_of(spending)));
      EXPECT_THAT(text, HasSubstr(analyzer::format_share(account.spent[spending], account.spent.total())));
    }
    EXPECT_THAT(text, HasSubstr("RANKS"));
    for (const analyzer::RankAccount& rank : account.ranks)
      EXPECT_THAT(text, HasSubstr(fmt::format("| {} | | {} |", rank.rank,
                                              analyzer::format_share(rank.spent[analyzer::Spending::steady],
                                                                     rank.spent.recorded()))));
  });
}

TEST_F(Journey, WithoutTimesThereIsNeitherAnAccountNorAnAllClear) {
  analyzer::Job job = job_without_times();
  job.ranks[0].ending.progress.clear();
  const auto scene = scene_of(job);
  ASSERT_TRUE(scene->order_alone());
  open(*scene);
  play([&](User& user) {
    user.show("Account");
    EXPECT_THAT(user.drawn_text(), HasSubstr("where the run's wall time went is not known"));
    user.show("Findings");
    const std::string text = user.drawn_text();
    EXPECT_THAT(text, HasSubstr("No times were recorded"));
    EXPECT_THAT(text, testing::Not(HasSubstr("Nothing was found")));
  });
}

}  // namespace
}  // namespace lockstep::viewer::journey

#include "viewer/opening/recent_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <thread>

#include "tests/temporary_folder.h"

namespace lockstep::viewer {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

RecentRun run_at(const std::string& path, std::int64_t opened = 1'000) {
  return {{path}, "", 8, 12, opened};
}

TEST(RecentRuns, ComeBackAsTheyWere) {
  const std::vector<RecentRun> runs{
      run_at("/runs/a b\"\n"), {{"/x.json", "/y.json"}, "", 2, 0, 7}, {{"/before"}, "/after", 4, 3, 5}};
  EXPECT_EQ(parse_recent_runs(to_text(runs)), runs);
}

TEST(RecentRuns, TheLastOneStandsFirstAndOnce) {
  std::vector<RecentRun> runs;
  for (int i = 0; i < 30; ++i) runs = with_run(std::move(runs), run_at("/run" + std::to_string(i), i));
  ASSERT_THAT(runs, SizeIs(kMaxRecentRuns));
  EXPECT_EQ(runs.front().paths.front(), "/run29");
  EXPECT_EQ(runs.back().paths.front(), "/run10");
  runs = with_run(std::move(runs), run_at("/run15", 99));
  EXPECT_EQ(runs.front(), run_at("/run15", 99));
  EXPECT_THAT(runs, SizeIs(kMaxRecentRuns));
  // Alone and beside another it is not the same.
  runs = with_run(std::move(runs), {{"/run15"}, "/other", 8, 12, 100});
  EXPECT_EQ(runs[1], run_at("/run15", 99));
}

// Whatever becomes of the file: what is left of it is read, and nothing breaks.
TEST(RecentRuns, OfADamagedFileWhatCanBeReadIsThere) {
  const std::vector<RecentRun> runs{run_at("/a"), run_at("/b"), run_at("/c")};
  const std::string text = to_text(runs);
  const std::size_t second = text.find('\n') + 1;
  EXPECT_THAT(parse_recent_runs(text.substr(0, second) + "{\"paths\": [1]}\n[]\n\n\xff\n{\"paths\": []}\n" +
                                text.substr(second)),
              ElementsAre(runs[0], runs[1], runs[2]));
  EXPECT_THAT(parse_recent_runs("{\"paths\":[\"/a\"],\"ranks\":-5,\"steps\":\"many\"}\n"), IsEmpty());
  EXPECT_EQ(parse_recent_runs("{\"paths\":[\"/a\"],\"ranks\":-5}\n").at(0).ranks, 0);
  std::mt19937 random(1);
  for (int round = 0; round < 2'000; ++round) {
    std::string damaged = text;
    for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    damaged.resize(random() % (damaged.size() + 1));
    for (const RecentRun& run : parse_recent_runs(damaged)) {
      EXPECT_FALSE(run.paths.empty());
      EXPECT_EQ(parse_recent_runs(to_text({run})), std::vector<RecentRun>{run});
    }
  }
}

TEST(RecentRuns, WhatIsNoUtf8HasNoLine) {
  EXPECT_EQ(to_text({run_at("/a\xff")}), "");
}

TEST(RecentRuns, AreKeptInAFileThatIsMadeIfNeedBe) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "state/lockstep/recent-runs";
  EXPECT_THAT(read_recent_runs(file), IsEmpty());
  ASSERT_TRUE(remember_run(file, run_at("/a")).ok());
  ASSERT_TRUE(remember_run(file, run_at("/b")).ok());
  EXPECT_THAT(read_recent_runs(file), ElementsAre(run_at("/b"), run_at("/a")));
  ASSERT_TRUE(forget_run(file, run_at("/b", 5)).ok());
  EXPECT_THAT(read_recent_runs(file), ElementsAre(run_at("/a")));
}

TEST(RecentRuns, WritersAtATimeLoseNothing) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "recent-runs";
  std::vector<std::thread> writers;
  for (int i = 0; i < static_cast<int>(kMaxRecentRuns); ++i) {
    writers.emplace_back(
        [&file, i] { EXPECT_TRUE(remember_run(file, run_at("/" + std::to_string(i))).ok()); });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_THAT(read_recent_runs(file), SizeIs(kMaxRecentRuns));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 2) << "the file and its lock";
}

TEST(RecentRuns, WhereNobodyCanWriteIsAnError) {
  const test::TemporaryFolder folder;
  folder.write("state", "a file where a folder should be");
  const Status kept = remember_run(folder.path() / "state/recent-runs", run_at("/a"));
  ASSERT_FALSE(kept.ok());
  EXPECT_THAT(kept.error().message, testing::HasSubstr("state/recent-runs"));
}

TEST(RecentRuns, AreThereIfAllTheirPathsAre) {
  const test::TemporaryFolder folder;
  const std::string one = folder.write("one.json", "");
  EXPECT_EQ(presence_of(run_at(one)), Presence::there);
  EXPECT_EQ(presence_of(run_at(folder / "absent")), Presence::gone);
  EXPECT_EQ(presence_of(run_at(one + "/within")), Presence::gone) << "a file where a folder was";
  EXPECT_EQ(presence_of({{one, folder / "absent"}, "", 0, 0, 0}), Presence::gone);
  EXPECT_EQ(presence_of({{one}, folder / "absent", 0, 0, 0}), Presence::gone);
}

// A link to itself, as an error that root gets too.
TEST(RecentRuns, OfWhichNobodyCanTellAreNotGone) {
  const test::TemporaryFolder folder;
  const std::string one = folder.write("one.json", ""), loop = folder / "loop";
  fs::create_symlink(loop, loop);
  EXPECT_EQ(presence_of(run_at(loop)), Presence::unknown);
  EXPECT_EQ(presence_of({{loop, one}, "", 0, 0, 0}), Presence::unknown);
  EXPECT_EQ(presence_of({{one}, loop, 0, 0, 0}), Presence::unknown);
  EXPECT_EQ(presence_of({{loop}, folder / "absent", 0, 0, 0}), Presence::gone);
}

TEST(RecentRuns, SayWhenTheyWereOpened) {
  constexpr std::int64_t kNow = 1'800'000'000;
  EXPECT_EQ(time_ago(kNow - 59, kNow), "just now");
  EXPECT_EQ(time_ago(kNow + 500, kNow), "just now") << "a clock that was set back";
  EXPECT_EQ(time_ago(kNow - 60, kNow), "1 minute ago");
  EXPECT_EQ(time_ago(kNow - 7'200, kNow), "2 hours ago");
  EXPECT_EQ(time_ago(kNow - 86'400, kNow), "yesterday");
  EXPECT_EQ(time_ago(kNow - 12 * 86'400, kNow), "12 days ago");
  EXPECT_EQ(time_ago(kNow - 300 * 86'400, kNow), "on 2026-03-21");
  EXPECT_EQ(time_ago(std::numeric_limits<std::int64_t>::min(), kNow), "on 1970-01-01");
}

}  // namespace
}  // namespace lockstep::viewer

#include "viewer/opening/run_presence.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "tests/temporary_folder.h"
#include "viewer/testing/last_one.h"

namespace lockstep::viewer {
namespace {

constexpr std::chrono::minutes kLong{2};

RecentRun run_at(const std::string& path) {
  return {{path}, "", 8, 1, 0};
}

// A file system that does not answer for "/hung" until it is released. Outlives all that looks.
struct HungDisk {
  std::promise<void> release, last_one_gone;
  std::shared_future<void> released = release.get_future().share();
  std::future<void> left = last_one_gone.get_future();
  std::atomic<int> asked{0};

  RunPresence::Look look() {
    // Gone with the RunPresence and its threads: after all that they may tell.
    const auto last_one = std::make_shared<LastOne>(std::move(last_one_gone));
    return [this, last_one](const RecentRun& run) {
      if (run.paths.front() != "/hung")
        return run.paths.front() == "/there" ? Presence::there : Presence::gone;
      ++asked;
      released.wait();
      return Presence::there;
    };
  }
};

TEST(RunPresence, TellsWhatIsThereAndWhatIsGone) {
  const test::TemporaryFolder folder;
  folder.write("run/rank-0.lst", "");
  const RecentRun there = run_at(folder / "run"), gone = run_at(folder / "absent");
  RecentRun half = there;
  half.other = folder / "absent";
  std::atomic<int> told{0};
  RunPresence presence([&told] { ++told; });
  EXPECT_EQ(presence.of(there), Presence::unknown) << "nobody asked";
  EXPECT_TRUE(presence.wait_for(std::chrono::milliseconds(0)));
  presence.look({there, gone, half});
  ASSERT_TRUE(presence.wait_for(kLong));
  EXPECT_EQ(presence.of(there), Presence::there);
  EXPECT_EQ(presence.of(gone), Presence::gone);
  EXPECT_EQ(presence.of(half), Presence::gone);
  std::filesystem::rename(folder / "run", folder / "absent");
  presence.look({there, gone});
  ASSERT_TRUE(presence.wait_for(kLong));
  EXPECT_EQ(presence.of(there), Presence::gone);
  EXPECT_EQ(presence.of(gone), Presence::there);
}

TEST(RunPresence, OneThatHangsHoldsNoOtherUpAndIsAskedOnce) {
  HungDisk disk;
  std::promise<void> both;
  std::atomic<int> told{0};
  {
    RunPresence presence(
        [&] {
          if (++told == 2) both.set_value();
        },
        disk.look());
    for (int page = 0; page < 5; ++page) presence.look({run_at("/hung")});
    presence.look({run_at("/there"), run_at("/absent")});
    both.get_future().wait();
    EXPECT_EQ(presence.of(run_at("/there")), Presence::there);
    EXPECT_EQ(presence.of(run_at("/absent")), Presence::gone);
    EXPECT_EQ(presence.of(run_at("/hung")), Presence::unknown);
    EXPECT_FALSE(presence.wait_for(std::chrono::milliseconds(0)));
  }  // waits for nobody
  disk.release.set_value();
  disk.left.wait();
  EXPECT_EQ(disk.asked, 1);
  EXPECT_EQ(told, 2) << "nobody is told any more";
}

TEST(RunPresence, WhatThrowsIsNotKnown) {
  RunPresence presence({}, [](const RecentRun&) -> Presence { throw std::bad_alloc(); });
  presence.look({run_at("/a")});
  ASSERT_TRUE(presence.wait_for(kLong));
  EXPECT_EQ(presence.of(run_at("/a")), Presence::unknown);
}

// While the page is opened and left again and again.
TEST(RunPresence, ThreadsThatAnswerLateFindNobody) {
  constexpr int kPages = 200;
  std::atomic<int> late{0};
  std::vector<std::future<void>> left;
  for (int page = 0; page < kPages; ++page) {
    const auto alive = std::make_shared<std::atomic<bool>>(true);
    std::promise<void> gone;
    left.push_back(gone.get_future());
    const auto last_one = std::make_shared<LastOne>(std::move(gone));
    {
      RunPresence presence([alive, &late] { late += *alive ? 0 : 1; },
                           [last_one](const RecentRun& run) { return presence_of(run); });
      presence.look({run_at("/"), run_at("/absent")});
    }
    *alive = false;
  }
  for (std::future<void>& one : left) one.wait();
  EXPECT_EQ(late, 0);
}

}  // namespace
}  // namespace lockstep::viewer

#include "viewer/opening/run_presence.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <set>

#include "tests/temporary_folder.h"

namespace lockstep::viewer {
namespace {

constexpr std::chrono::minutes kLong{2};

RecentRun run_at(const std::string& path) {
  return {{path}, "", 8, 1, 0};
}

// A file system that does not answer for "/hung" until it is released.
struct HungDisk {
  std::promise<void> release, left;
  std::shared_future<void> released = release.get_future().share();
  std::atomic<int> asked{0};

  static RunPresence::Look look(const std::shared_ptr<HungDisk>& disk) {
    return [disk](const RecentRun& run) {
      if (run.paths.front() != "/hung") return run.paths.front() == "/there";
      ++disk->asked;
      disk->released.wait();
      disk->left.set_value();
      return true;
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
  const auto disk = std::make_shared<HungDisk>();
  std::promise<void> both;
  std::atomic<int> told{0};
  {
    RunPresence presence(
        [&] {
          if (++told == 2) both.set_value();
        },
        HungDisk::look(disk));
    for (int page = 0; page < 5; ++page) presence.look({run_at("/hung")});
    presence.look({run_at("/there"), run_at("/absent")});
    both.get_future().wait();
    EXPECT_EQ(presence.of(run_at("/there")), Presence::there);
    EXPECT_EQ(presence.of(run_at("/absent")), Presence::gone);
    EXPECT_EQ(presence.of(run_at("/hung")), Presence::unknown);
    EXPECT_FALSE(presence.wait_for(std::chrono::milliseconds(0)));
    EXPECT_LE(disk->asked, 1);
  }  // waits for nobody
  disk->release.set_value();
  disk->left.get_future().wait();
  EXPECT_EQ(disk->asked, 1);
  EXPECT_EQ(told, 2) << "nobody is told any more";
}

TEST(RunPresence, WhatThrowsIsNotKnown) {
  RunPresence presence({}, [](const RecentRun&) -> bool { throw std::bad_alloc(); });
  presence.look({run_at("/a")});
  ASSERT_TRUE(presence.wait_for(kLong));
  EXPECT_EQ(presence.of(run_at("/a")), Presence::unknown);
}

// While the page is opened and left again and again.
TEST(RunPresence, ThreadsThatAnswerLateFindNobody) {
  std::atomic<int> told{0};
  for (int page = 0; page < 200; ++page) {
    RunPresence presence([&told] { ++told; });
    presence.look({run_at("/"), run_at("/absent")});
  }
  EXPECT_LE(told, 400);
}

}  // namespace
}  // namespace lockstep::viewer

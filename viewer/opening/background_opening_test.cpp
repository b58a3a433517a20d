#include "viewer/opening/background_opening.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <random>

#include "tests/temporary_folder.h"
#include "viewer/opening/prepared_file.h"

namespace lockstep::viewer {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
constexpr std::chrono::minutes kLong{2};

RunRequest request(const std::string& path) {
  return {{path}, "", true};
}

// An opener that the test holds: it works until it is released or, if it listens, asked to stop.
struct Held {
  std::promise<void> release, begun;
  std::shared_future<void> released = release.get_future().share();
  bool listens = true;
  std::atomic<bool> stopped{false};

  BackgroundOpening::Opener opener() {
    return [this](const RunRequest& request, const TellProgress&,
                  const std::stop_token& stop) -> Result<OpenedRun> {
      begun.set_value();
      std::promise<void> asked;
      std::atomic<bool> ended{false};
      const std::stop_callback ask(stop, [&] {
        stopped = true;
        if (listens && !ended.exchange(true)) asked.set_value();
      });
      if (listens) {
        asked.get_future().wait();
        return Error{"stopped"};
      }
      released.wait();
      OpenedRun opened;
      opened.request = request;
      return opened;
    };
  }
};

TEST(BackgroundOpening, IsIdleUntilSomethingIsOpenedAndAfterItWasTaken) {
  std::promise<void> told;
  BackgroundOpening opening([&told] { told.set_value(); },
                            [](const RunRequest& request, const TellProgress&, const std::stop_token&) {
                              OpenedRun opened;
                              opened.request = request;
                              return Result<OpenedRun>(std::move(opened));
                            });
  EXPECT_EQ(opening.state(), OpeningState::idle);
  EXPECT_FALSE(opening.take().has_value());
  EXPECT_TRUE(opening.wait_for(milliseconds(0)));
  opening.open(request("/a"));
  told.get_future().wait();
  EXPECT_EQ(opening.state(), OpeningState::ready);
  const auto taken = opening.take();
  ASSERT_TRUE(taken && taken->ok());
  EXPECT_EQ(taken->value().request, request("/a"));
  EXPECT_EQ(opening.state(), OpeningState::idle);
  EXPECT_FALSE(opening.take().has_value());
}

TEST(BackgroundOpening, TellsWhyThereIsNone) {
  const test::TemporaryFolder folder;
  BackgroundOpening opening;
  opening.open(request(folder / "absent"));
  ASSERT_TRUE(opening.wait_for(kLong));
  EXPECT_EQ(opening.state(), OpeningState::failed);
  const auto taken = opening.take();
  ASSERT_TRUE(taken && !taken->ok());
  EXPECT_THAT(taken->error().message, HasSubstr("absent"));
}

TEST(BackgroundOpening, WhatAnOpenerThrowsIsAnError) {
  BackgroundOpening opening(
      {}, [](const RunRequest&, const TellProgress&, const std::stop_token&) -> Result<OpenedRun> {
        throw std::bad_alloc();
      });
  opening.open(request("/a"));
  ASSERT_TRUE(opening.wait_for(kLong));
  EXPECT_THAT(opening.take()->error().message, HasSubstr("memory"));
}

// Stages of two runs, told in any order and from several threads at a time: what is seen only grows.
TEST(BackgroundOpening, ProgressNeverGoesBack) {
  BackgroundOpening opening(
      {}, [](const RunRequest&, const TellProgress& tell, const std::stop_token&) -> Result<OpenedRun> {
        std::vector<std::thread> tellers;
        for (unsigned seed = 0; seed < 4; ++seed) {
          tellers.emplace_back([&tell, seed] {
            std::mt19937 random(seed);
            for (int i = 0; i < 20'000; ++i)
              tell({random() % 2, 2, static_cast<OpeningStage>(random() % 3), (random() % 1'001) / 1'000.0,
                    7});
          });
        }
        for (std::thread& teller : tellers) teller.join();
        return Error{"enough"};
      });
  opening.open({{"/a"}, "/b", true});
  double before = 0;
  do {
    const double share = opening.progress().share();
    ASSERT_GE(share, before);
    before = share;
  } while (opening.state() == OpeningState::opening);
  EXPECT_GT(opening.progress().share(), 0.9);
}

TEST(BackgroundOpening, WhatIsCancelledIsAskedToStopAndNeverTold) {
  Held held;
  std::atomic<int> told{0};
  BackgroundOpening opening([&told] { ++told; }, held.opener());
  opening.open(request("/a"));
  held.begun.get_future().wait();
  EXPECT_EQ(opening.state(), OpeningState::opening);
  EXPECT_FALSE(opening.wait_for(milliseconds(0)));
  opening.cancel();
  EXPECT_EQ(opening.state(), OpeningState::idle);
  EXPECT_TRUE(opening.finish(kLong));
  EXPECT_TRUE(held.stopped);
  EXPECT_EQ(told, 0);
}

TEST(BackgroundOpening, ALaterRunIsTheOneOfInterest) {
  Held slow;
  slow.listens = false;
  const auto first = slow.opener();
  std::promise<void> told;
  BackgroundOpening opening([&told] { told.set_value(); },
                            [&](const RunRequest& request, const TellProgress& tell,
                                const std::stop_token& stop) -> Result<OpenedRun> {
                              if (request.paths[0] == "/slow") return first(request, tell, stop);
                              return Error{"the second"};
                            });
  opening.open(request("/slow"));
  slow.begun.get_future().wait();
  opening.open(request("/other"));
  told.get_future().wait();
  EXPECT_EQ(opening.take()->error().message, "the second");
  EXPECT_FALSE(opening.finish(milliseconds(0))) << "the first works on, and does not stop";
  slow.release.set_value();
  EXPECT_TRUE(opening.finish(kLong));
  EXPECT_EQ(opening.state(), OpeningState::idle) << "what became of it nobody sees";
}

// A reader that is asked to stop in its midst leaves nothing beside the run.
TEST(BackgroundOpening, ARunThatIsCancelledLeavesNothingBehind) {
  const test::TemporaryFolder folder;
  std::string trace = "{\"traceEvents\": [\n";
  for (int i = 0; i < 40'000; ++i) {
    trace += "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, \"ts\": " +
             std::to_string(10 * i) + ", \"dur\": 5, \"args\": {\"stream\": 7}},\n";
  }
  trace.resize(trace.size() - 2);
  folder.write("run/rank-0.json", trace + "\n]}\n");
  ASSERT_GT(trace.size(), kWorthKeeping);
  for (const OpeningStage stop_at :
       {OpeningStage::reading, OpeningStage::analyzing, OpeningStage::preparing}) {
    std::stop_source stop;
    const auto opened = open_request(
        request(folder / "run"),
        [&](const OpeningProgress& now) {
          ASSERT_LE(now.stage, stop_at) << "nothing more is begun";
          // In its midst; one small file is read, and one rank prepared, in one go.
          if (now.stage == stop_at && (now.done > 0.5 || stop_at != OpeningStage::analyzing))
            stop.request_stop();
        },
        stop.get_token());
    ASSERT_FALSE(opened.ok()) << to_string(stop_at);
    EXPECT_THAT(opened.error().message, HasSubstr("stopped"));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path() / "run"), {}), 1)
        << to_string(stop_at);
  }
  EXPECT_TRUE(open_request(request(folder / "run")).ok());
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "run/.lockstep-view"));
}

}  // namespace
}  // namespace lockstep::viewer

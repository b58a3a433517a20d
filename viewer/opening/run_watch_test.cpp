#include "viewer/opening/run_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <filesystem>
#include <future>

#include "tests/temporary_folder.h"
#include "viewer/opening/prepared_file.h"

namespace lockstep::viewer {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::hours kNever{1};

TEST(CompareWithDisk, SeesWhatChangedAndWhatIsGone) {
  const test::TemporaryFolder folder;
  const std::vector<std::string> paths{folder / "run"};
  folder.write("run/a", "1");
  folder.write("run/b", "1");
  const std::vector<WatchedRun> run{{paths, look_at(paths).fingerprint}};
  EXPECT_EQ(compare_with_disk(run), OnDisk::same);
  folder.write("run/.lockstep-view-session", "what the viewer keeps is no part of it");
  EXPECT_EQ(compare_with_disk(run), OnDisk::same);
  folder.write("run/b", "22");
  EXPECT_EQ(compare_with_disk(run), OnDisk::changed);
  fs::remove(folder.path() / "run/b");
  EXPECT_EQ(compare_with_disk(run), OnDisk::changed);
  fs::remove_all(folder.path() / "run");
  EXPECT_EQ(compare_with_disk(run), OnDisk::gone);
}

TEST(CompareWithDisk, OfTwoRunsTellsTheWorse) {
  const test::TemporaryFolder folder;
  const std::vector<std::string> a{folder.write("a", "1")}, b{folder.write("b", "1")};
  const std::vector<WatchedRun> runs{{a, look_at(a).fingerprint}, {b, look_at(b).fingerprint}};
  EXPECT_EQ(compare_with_disk(runs), OnDisk::same);
  fs::remove(b[0]);
  EXPECT_EQ(compare_with_disk(runs), OnDisk::gone);
  folder.write("a", "22");
  EXPECT_EQ(compare_with_disk(runs), OnDisk::gone);
  folder.write("b", "22");
  EXPECT_EQ(compare_with_disk(runs), OnDisk::changed);
}

// Each look's answer comes from the test; `told` counts the calls.
struct Scripted {
  std::promise<void> last;
  std::deque<OnDisk> answers;
  std::atomic<int> told{0};
  OnDisk operator()() {
    const OnDisk answer = answers.front();
    if (answers.size() > 1) {
      answers.pop_front();
    } else if (!done) {
      done = true;
      last.set_value();
    }
    return answer;
  }
  bool done = false;
};

TEST(RunWatch, TellsOfEachChangeOnce) {
  Scripted script;
  script.answers = {OnDisk::same, OnDisk::same, OnDisk::changed, OnDisk::changed,
                    OnDisk::gone, OnDisk::same, OnDisk::same};
  RunWatch watch(
      {}, [&script] { ++script.told; }, std::chrono::milliseconds(0),
      [&script](const std::vector<WatchedRun>&) { return script(); });
  script.last.get_future().wait();
  EXPECT_EQ(script.told, 3);
  EXPECT_EQ(watch.state(), OnDisk::same);
}

TEST(RunWatch, LooksAtOnceWhenAskedAndEndsAtOnceOtherwise) {
  const test::TemporaryFolder folder;
  const std::vector<std::string> paths{folder.write("trace.json", "1")};
  std::promise<void> told;
  RunWatch watch(
      {{paths, look_at(paths).fingerprint}}, [&told] { told.set_value(); }, kNever);
  EXPECT_EQ(watch.state(), OnDisk::same);
  fs::remove(paths[0]);
  watch.look_now();
  told.get_future().wait();
  EXPECT_EQ(watch.state(), OnDisk::gone);
}

}  // namespace
}  // namespace lockstep::viewer

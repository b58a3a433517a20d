#include "tracer/recorder/own_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tracer/recorder/python_place.h"

namespace lockstep::tracer::record {
namespace {

using testing::ElementsAre;

ThreadStack thread(std::int64_t id, std::vector<std::string> frames) {
  ThreadStack stack;
  stack.id = id;
  stack.frames = std::move(frames);
  return stack;
}

TEST(OwnFrames, OfTheLibraryAreHiddenAndItsThreadsToo) {
  std::vector<ThreadStack> threads{
      thread(1, {"pthread_cond_wait in libc.so.6", "0x1f in liblockstep-inject.so",
                 "c10d::Reducer::finalize_backward() in libtorch_cpu.so"}),
      thread(2, {"nanosleep in libc.so.6", "0x2f in liblockstep-inject.so", "clone in libc.so.6"}),
      thread(3, {"poll in libc.so.6", "clone in libc.so.6"}), thread(4, {})};
  hide_own_frames(threads);
  ASSERT_EQ(threads.size(), 3U);
  EXPECT_THAT(threads[0].frames, ElementsAre("pthread_cond_wait in libc.so.6",
                                             "c10d::Reducer::finalize_backward() in libtorch_cpu.so"));
  EXPECT_EQ(threads[1].id, 3) << "a thread in the C library alone may be the job's";
  EXPECT_EQ(threads[2].id, 4);
  EXPECT_EQ(summary_of(threads), ", called from c10d::Reducer::finalize_backward() in libtorch_cpu.so");
}

constexpr const char* kInBackward = R"(Thread 0x00007f2 (most recent call first):
  File "/venv/lib/python3.11/site-packages/torch/autograd/graph.py", line 869 in _engine_run_backward
  File "/opt/lockstep/lib/lockstep/python/lockstep_pytorch.py", line 249 in backward
  File "/home/a/lockstep/train.py", line 60 in <module>
)";

TEST(OwnFrames, OfThePythonHookAreHidden) {
  const std::string shown = without_own_frames(kInBackward);
  EXPECT_EQ(shown.find("lockstep_pytorch.py"), std::string::npos);
  EXPECT_EQ(place_in_python(shown),
            "\"/home/a/lockstep/train.py\", line 60 in <module>, inside _engine_run_backward of graph.py");
  EXPECT_EQ(without_own_frames(shown), shown);
  EXPECT_EQ(without_own_frames("  File \"half"), "  File \"half");
  EXPECT_EQ(without_own_frames(""), "");
}

TEST(OwnFrames, AThreadOfPythonThatIsOursAloneIsLeftOutWithItsHeadline) {
  const std::string others =
      "Thread 0x00007f01 (most recent call first):\n  <no Python frame>\n\n"
      "Current thread 0x00007f03 (most recent call first):\n  File \"/home/a/train.py\", line 60 in main\n";
  const std::string ours =
      "Thread 0x00007f02 (most recent call first):\n"
      "  File \"/usr/lib/lockstep/python/lockstep_stacks.py\", line 112 in _look\n\n";
  EXPECT_EQ(without_own_frames(ours + others), others);
  EXPECT_EQ(without_own_frames(others + "\n" + ours), others + "\n");
  EXPECT_EQ(without_own_frames("Thread 0x00007f04"), "Thread 0x00007f04") << "cut";
}

}  // namespace
}  // namespace lockstep::tracer::record

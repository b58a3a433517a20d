#include "tracer/recorder/python_place.h"

#include <gtest/gtest.h>

namespace lockstep::tracer::record {
namespace {

constexpr const char* kWaiting = R"(Thread 0x00007f1 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 324 in wait
  File "/home/a/other.py", line 3 in watch

Thread 0x00007f2 (most recent call first):
  File "/opt/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 5037 in barrier
  File "/opt/venv/lib/python3.11/site-packages/torch/distributed/c10d_logger.py", line 81 in wrapper
  File "/home/a/train job/train.py", line 6 in evaluate
  File "/home/a/train job/train.py", line 60 in <module>
)";

TEST(PythonPlace, IsTheProgramsOwnFrameInsideTheLibrarys) {
  EXPECT_EQ(place_in_python(kWaiting),
            "\"/home/a/train job/train.py\", line 6 in evaluate, inside barrier of distributed_c10d.py");
}

TEST(PythonPlace, OfOneThreadAndTheProgramItself) {
  EXPECT_EQ(place_in_python("Current thread 0x1:\n  File \"train.py\", line 12 in next_batch\n  File "
                            "\"train.py\", line 20 in <module>\n"),
            "\"train.py\", line 12 in next_batch");
}

TEST(PythonPlace, InALibraryAlone) {
  EXPECT_EQ(place_in_python("Thread 0x1:\n  File \"/usr/lib/python3.11/selectors.py\", line 468 in select\n"),
            "\"/usr/lib/python3.11/selectors.py\", line 468 in select");
}

TEST(PythonPlace, CodeMadeWhileItRanIsALibrarysAndWhatWasTypedIsTheUsers) {
  EXPECT_EQ(place_in_python("Thread 0x1:\n  File \"<_remote_module_non_scriptable>.py\", line 9 in forward\n"
                            "  File \"train.py\", line 20 in <module>\n"),
            "\"train.py\", line 20 in <module>, inside forward of <_remote_module_non_scriptable>.py");
  for (const std::string typed : {"<stdin>", "<string>", "<ipython-input-3-1f2e>"})
    EXPECT_EQ(place_in_python("Thread 0x1:\n  File \"" + typed +
                              "\", line 2 in wait\n  File \"train.py\", line 1 in main\n"),
              "\"" + typed + "\", line 2 in wait");
}

TEST(PythonPlace, WhereThereIsNoneOrATextOfAnotherKindItIsEmptyOrShort) {
  EXPECT_EQ(place_in_python(""), "");
  EXPECT_EQ(place_in_python("Thread 0x1 (most recent call first):\n  <no Python frame>\n"), "");
  EXPECT_EQ(place_in_python("  File \"half"), "");
  EXPECT_EQ(place_in_python("  File \"a.py\", line 1 in " + std::string(1000, 'x')).size(), 300U);
}

}  // namespace
}  // namespace lockstep::tracer::record

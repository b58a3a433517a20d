#include "tracer/inject/control/python_stacks.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

// The interpreter, as far as it is asked anything here.
static int python_runs = 1;
extern "C" __attribute__((visibility("default"))) int Py_IsInitialized() {
  return python_runs;
}

namespace lockstep::tracer::control {
namespace {

namespace fs = std::filesystem;

int stacks_file = -1;
int calls = 0;

// As faulthandler's: writes to the file that it was registered with.
void write_stacks(int) {
  ++calls;
  const std::string text = "Thread 1:\n  File \"train.py\", line " + std::to_string(calls) + "\n";
  EXPECT_EQ(write(stacks_file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}
void another_handler(int) {}

class PythonStacks : public testing::Test {
 protected:
  PythonStacks() {
    python_runs = 1;
    calls = 0;
    stacks_file = memfd_create("stacks", MFD_CLOEXEC);
    signal_ = find_unused_signal();
    signal(signal_, write_stacks);
    offer_python_stacks(signal_, stacks_file);
  }
  ~PythonStacks() override {
    offer_python_stacks(0, -1);
    signal(signal_, SIG_DFL);
    close(stacks_file);
    fs::remove(path_);
  }

  std::string written() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  int signal_ = 0;
  const std::string path_ = fs::temp_directory_path() / ("lockstep-stacks-" + std::to_string(getpid()));
};

TEST_F(PythonStacks, AreWhatTheHandlerWritesEachTimeAnew) {
  ASSERT_GT(signal_, SIGRTMIN);
  ASSERT_TRUE(write_python_stacks(path_));
  EXPECT_EQ(written(), "Thread 1:\n  File \"train.py\", line 1\n");
  ASSERT_TRUE(write_python_stacks(path_));
  EXPECT_EQ(written(), "Thread 1:\n  File \"train.py\", line 2\n");
}

TEST_F(PythonStacks, AHandlerOfItsOwnMakesASignalUsed) {
  EXPECT_NE(find_unused_signal(), signal_);
  EXPECT_NE(find_unused_signal(), 0);
}

TEST_F(PythonStacks, AnInterpreterThatEndsIsNotAsked) {
  python_runs = 0;
  EXPECT_FALSE(write_python_stacks(path_));
  EXPECT_EQ(calls, 0);
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(PythonStacks, WhatWasTakenBackIsNotCalled) {
  offer_python_stacks(0, -1);
  EXPECT_FALSE(write_python_stacks(path_));
  EXPECT_EQ(calls, 0);
}

TEST_F(PythonStacks, AHandlerThatTheJobReplacedIsNotCalled) {
  signal(signal_, another_handler);
  EXPECT_FALSE(write_python_stacks(path_));
  signal(signal_, SIG_DFL);
  EXPECT_FALSE(write_python_stacks(path_));
  EXPECT_EQ(calls, 0);
}

TEST_F(PythonStacks, AFileOfTheJobUnderTheSameNumberIsLeftAlone) {
  const std::string jobs = path_ + ".job";
  const int file = open(jobs.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0);
  ASSERT_EQ(write(file, "weights", 7), 7);
  ASSERT_EQ(dup2(file, stacks_file), stacks_file);
  close(file);
  EXPECT_FALSE(write_python_stacks(path_));
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(fs::file_size(jobs), 7U);
  fs::remove(jobs);
}

TEST_F(PythonStacks, AForkedChildDoesNotWriteToItsParentsFile) {
  const pid_t child = fork();
  if (child == 0) _exit(write_python_stacks(path_) ? 1 : 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(write_python_stacks(path_));
}

}  // namespace
}  // namespace lockstep::tracer::control

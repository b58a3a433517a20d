// Runs something in a process of its own with the tracer in it, and reads what it left.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/reader.h"
#include "tracer/inject/core/tracer.h"

namespace lockstep::tracer::nccl::stand_in {

class Recorded {
 public:
  explicit Recorded(std::string folder = {}) {
    std::string pattern = (std::filesystem::temp_directory_path() / "lockstep-nccl-XXXXXX").string();
    folder_ = folder.empty() ? mkdtemp(pattern.data()) : std::move(folder);
  }
  ~Recorded() { std::filesystem::remove_all(folder_); }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;

  // Starts `body` in a child that closes its file in the end; returns its process id.
  template <class Body>
  pid_t start(Body body) {
    const pid_t child = fork();
    if (child == 0) {
      setenv("LOCKSTEP_RUN", folder_.c_str(), 1);
      setenv("RANK", "0", 1);
      body();
      Tracer::instance().shut_down();
      _exit(::testing::Test::HasFailure() ? 9 : 0);
    }
    return child;
  }
  static int wait(pid_t child) {
    int status = 0;
    return waitpid(child, &status, 0) == child ? status : -1;
  }
  template <class Body>
  void run(Body body) {
    const int status = wait(start(body));
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    ASSERT_EQ(WEXITSTATUS(status), 0);
  }

  trace::Reader open(const std::string& file = "rank-0.lst") const {
    Result<trace::Reader> reader = trace::Reader::open(std::filesystem::path(folder_) / file);
    EXPECT_TRUE(reader.ok()) << reader.error().message;
    return std::move(reader).value();
  }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

template <class Event>
std::vector<Event> all(const trace::Reader& reader) {
  std::vector<Event> events;
  EXPECT_TRUE(reader.read(trace::Selection{}, events).ok());
  return events;
}

inline std::uint64_t lost(const trace::Reader& reader) {
  std::uint64_t count = 0;
  for (const trace::Drop& drop : all<trace::Drop>(reader)) count += drop.count;
  return count;
}

}  // namespace lockstep::tracer::nccl::stand_in

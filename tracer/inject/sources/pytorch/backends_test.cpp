// Process groups of MPI, UCC and XCCL, on stand-ins of the libraries that hold them (stand_in/), recorded by
// the real library. Their functions are found by PyTorch's own names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"
#include "trace/events/wait_range.h"
#include "trace/reader.h"

namespace lockstep::tracer::pytorch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

// What the stand-in program did, as its file tells.
class Backends : public testing::Test {
 protected:
  void SetUp() override {
    const std::string stand_in = STAND_IN_DIR;
    const std::string program = stand_in + "/program";
    const pid_t child = fork();
    if (child == 0) {
      setenv("LOCKSTEP_RUN", folder_.path().c_str(), 1);
      setenv("RANK", "0", 1);
      setenv("WORLD_SIZE", "2", 1);
      execl(program.c_str(), "program", stand_in.c_str(), LOCKSTEP_INJECT, nullptr);
      _exit(127);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    const Result<trace::Reader> opened = trace::Reader::open(folder_.path() / "rank-0.lst");
    ASSERT_TRUE(opened.ok());
    const trace::Reader& reader = opened.value();
    ASSERT_TRUE(reader.read(trace::Selection{}, operations_).ok());
    ASSERT_TRUE(reader.read(trace::Selection{}, issues_).ok());
    for (const trace::CollectiveIssue& issue : issues_) issue_names_.emplace_back(reader.string(issue.name));
    const Result<std::vector<trace::OpenRange>> unfinished = reader.unfinished_ranges();
    ASSERT_TRUE(unfinished.ok());
    for (const trace::OpenRange& range : unfinished.value())
      unfinished_.emplace_back(reader.string(range.name));
    std::vector<trace::ApiCall> calls;
    ASSERT_TRUE(reader.read(trace::Selection{}, calls).ok());
    for (const trace::ApiCall& call : calls) calls_.emplace_back(reader.string(call.name));
    std::vector<trace::HostRange> ranges;
    ASSERT_TRUE(reader.read(trace::Selection{}, ranges).ok());
    for (const trace::HostRange& range : ranges) {
      const std::string name(reader.string(range.name));
      if (name == trace::kWaitForCommunication) {
        waits_.push_back(range);
      } else {
        marks_[name] = range.begin;
      }
    }
    std::sort(waits_.begin(), waits_.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    std::sort(operations_.begin(), operations_.end(),
              [](const auto& a, const auto& b) { return a.begin < b.begin; });
    groups_ = reader.groups();
    lanes_ = reader.lanes();
    for (const auto& [key, value] : reader.metadata()) {
      if (key == "source.pytorch.problem") problem_ = value;
    }
  }

  std::string in_words(const trace::Collective& event) const {
    return std::string(to_string(event.operation)) + " of " + groups_.at(event.group).name + " #" +
           std::to_string(event.sequence) + ", " +
           (event.bytes != trace::kUnknownBytes ? std::to_string(event.bytes) : "unknown") + " B, peer " +
           std::to_string(event.peer);
  }

  test::TemporaryFolder folder_;
  std::vector<trace::Collective> operations_;
  std::vector<trace::CollectiveIssue> issues_;
  std::vector<std::string> issue_names_;  // of issues_
  std::vector<trace::HostRange> waits_;
  std::vector<std::string> calls_;
  std::vector<std::string> unfinished_;  // ranges
  std::map<std::string, trace::Nanoseconds> marks_;
  std::vector<trace::Group> groups_;
  std::vector<trace::Lane> lanes_;
  std::string problem_;
};

TEST_F(Backends, AreFollowedCallByCall) {
  std::vector<std::string> words;
  for (const trace::Collective& event : operations_) words.push_back(in_words(event));
  EXPECT_THAT(words,
              ElementsAre("all_reduce of mpi #0, 1024 B, peer -1", "broadcast of mpi #1, 4096 B, peer 4",
                          "send of mpi #0, 1024 B, peer 4", "broadcast of ucc #0, 64 B, peer 5",
                          "all_reduce of mpi #3, unknown B, peer -1"));
  // Also what has no interval; not the call that ended by an exception.
  EXPECT_THAT(calls_,
              UnorderedElementsAre("all_reduce", "broadcast", "send", "broadcast", "all_reduce", "broadcast",
                                   "send", "all_reduce", "all_reduce", "all_reduce", "all_reduce"));
  EXPECT_TRUE(marks_.contains("exception passed"));
  // Nobody waited for the last two of UCC to the end: that the rank came to them is all that is known.
  EXPECT_THAT(issue_names_,
              UnorderedElementsAre("c10d.all_reduce", "c10d.all_reduce", "c10d.all_reduce",
                                   "c10d.end_unknown.broadcast", "c10d.end_unknown.all_reduce"));
  ASSERT_EQ(issues_.size(), 5U);
  EXPECT_EQ(groups_.at(issues_[0].group).name, "ucc") << "of a tensor on a device";
  EXPECT_EQ(issues_[0].bytes, 64U);
  EXPECT_EQ(groups_.at(issues_[1].group).name, "xccl");
  EXPECT_EQ(issues_[1].operation, trace::Operation::all_reduce);
  EXPECT_EQ(issues_[1].bytes, 32U);
  const auto sparse = std::find_if(issues_.begin() + 2, issues_.end(),
                                   [&](const auto& issue) { return issue.group == issues_[1].group; });
  ASSERT_NE(sparse, issues_.end());
  EXPECT_EQ(sparse->bytes, 0U) << "a dense tensor and a sparse one: not known";
}

TEST_F(Backends, MpisCollectivesEndWhenItsThreadIsDoneWithThem) {
  ASSERT_EQ(operations_.size(), 5U);
  const trace::Collective& first = operations_[0];
  const trace::Collective& second = operations_[1];
  EXPECT_LE(first.begin, marks_["both are issued"]);
  EXPECT_GE(first.end, marks_["both are issued"]);
  EXPECT_LE(first.end, marks_["first is over"]) << "before anybody waited for it";
  EXPECT_EQ(second.begin, first.end);
  EXPECT_GE(second.end, marks_["first is over"]);
  EXPECT_LE(second.end, marks_["second is over"]);
  EXPECT_EQ(second.lane, first.lane);
  EXPECT_EQ(lanes_.at(first.lane).kind, trace::LaneKind::communication);
}

TEST_F(Backends, WhatNobodyElseTellsOfEndsWithTheWaitForIt) {
  ASSERT_EQ(operations_.size(), 5U);
  ASSERT_EQ(waits_.size(), 7U);
  const trace::Collective& message = operations_[2];
  EXPECT_LE(message.begin, marks_["message is issued"]);
  EXPECT_GE(message.end, waits_[2].begin);
  EXPECT_LE(message.end, waits_[2].end);
  const trace::Collective& ucc = operations_[3];
  EXPECT_LE(ucc.begin, marks_["UCC's is issued"]);
  EXPECT_GE(ucc.end, waits_[3].begin);
  EXPECT_LE(ucc.end, marks_["UCC's is over"]);
  EXPECT_THAT(problem_, HasSubstr("when some collectives ended"));
}

TEST_F(Backends, AWaitThatEndsByAnExceptionLeavesNothingOpen) {
  ASSERT_EQ(waits_.size(), 7U);
  ASSERT_TRUE(marks_.contains("wait was left"));
  EXPECT_LE(waits_[5].end, marks_["wait was left"]);
  EXPECT_THAT(unfinished_, IsEmpty());
}

TEST_F(Backends, SayNothingOfWhatIsThere) {
  EXPECT_THAT(problem_, Not(HasSubstr("all-reduce")));
  EXPECT_THAT(problem_, Not(HasSubstr("could not be followed")));
  EXPECT_THAT(problem_, Not(HasSubstr("c10d::Work::finish")));
  EXPECT_THAT(problem_, Not(HasSubstr("waits for collectives and messages")));
}

}  // namespace
}  // namespace lockstep::tracer::pytorch

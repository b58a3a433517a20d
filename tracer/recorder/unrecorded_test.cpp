#include "tracer/recorder/unrecorded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "tracer/protocol/notices.h"
#include "tracer/recorder/job_programs.h"

namespace lockstep::tracer::record {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using FileOf = NoticeBoard::FileOf;
const auto kNone = [](std::int32_t, std::int32_t) { return FileOf::missing; };

class Notified : public testing::Test {
 protected:
  Notified() { setenv(notices::kVariable, board_.name().c_str(), 1); }
  ~Notified() override { unsetenv(notices::kVariable); }
  NoticeBoard board_;
};

// As many at once as no queue holds.
TEST_F(Notified, EveryProcessIsCounted) {
  constexpr int kProcesses = 60;
  for (int rank = 0; rank < kProcesses; ++rank) {
    if (fork() != 0) continue;
    notices::send("its file could not be created: Permission denied", rank, 2000);
    _exit(0);
  }
  for (int rank = 0; rank < kProcesses; ++rank) wait(nullptr);
  notices::send("it is statically linked", -1, 2000);
  const std::vector<Unrecorded> all = board_.take(kNone);
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].reason, "its file could not be created: Permission denied");
  EXPECT_EQ(all[0].processes, kProcesses);
  EXPECT_THAT(all[0].ranks, SizeIs(8));
  EXPECT_THAT(all[0].process_ids, SizeIs(8));
  EXPECT_THAT(all[0].users, ElementsAre(getuid()));
  EXPECT_EQ(all[1].processes, 1U);
  EXPECT_THAT(all[1].process_ids, ElementsAre(getpid()));
  EXPECT_THAT(
      in_words(all),
      Contains(HasSubstr("60 processes left no file: its file could not be created: Permission denied (")));
  EXPECT_THAT(board_.take(kNone), IsEmpty());
}

// Whoever sends without end, and what is no notice, keep nobody from ending.
TEST_F(Notified, AFloodEndsWithTheRecording) {
  const pid_t flood = fork();
  if (flood == 0) {
    const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, board_.name().data(), board_.name().size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + board_.name().size());
    for (int i = 0;; ++i)
      sendto(socket, "x", static_cast<std::size_t>(i % 2), 0, reinterpret_cast<const sockaddr*>(&address),
             length);
  }
  notices::send("it is statically linked", 3, 2000);
  const std::vector<Unrecorded> all = board_.take(kNone);
  kill(flood, SIGKILL);
  waitpid(flood, nullptr, 0);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].processes, 1U);
}

// Of those that begin to be recorded, the ones count that are gone and left no file.
TEST_F(Notified, ProcessesThatAreGoneBeforeTheirFileAreCounted) {
  std::vector<pid_t> processes;
  for (int rank = 0; rank < 4; ++rank) {
    processes.push_back(fork());
    if (processes.back() != 0) continue;
    notices::send_beginning(getpid(), rank);
    if (rank == 2) notices::send("out of memory", rank, 2000);
    _exit(0);
  }
  for (const pid_t process : processes) waitpid(process, nullptr, 0);
  notices::send_beginning(getpid(), 4);  // lives
  const std::vector<Unrecorded> all = board_.take([&](std::int32_t process, std::int32_t rank) {
    EXPECT_EQ(process, processes.at(static_cast<std::size_t>(rank)));
    return process == processes[1] ? FileOf::there : FileOf::missing;
  });
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_THAT(all[0].reason, HasSubstr("a moment of the first event"));
  EXPECT_EQ(all[0].processes, 2U);
  EXPECT_THAT(all[0].ranks, ElementsAre(0, 3));
  EXPECT_EQ(all[1].reason, "out of memory");
  EXPECT_THAT(all[1].ranks, ElementsAre(2));
}

TEST_F(Notified, ProcessesWhoseFileWasDeletedAreNotSaidToHaveEndedAtOnce) {
  for (int rank = 0; rank < 2; ++rank) {
    const pid_t process = fork();
    if (process == 0) {
      notices::send_beginning(getpid(), rank);
      _exit(0);
    }
    waitpid(process, nullptr, 0);
  }
  const std::vector<Unrecorded> all = board_.take(
      [](std::int32_t, std::int32_t rank) { return rank == 0 ? FileOf::may_be_deleted : FileOf::missing; });
  ASSERT_THAT(all, SizeIs(2));
  for (const Unrecorded& of : all)
    EXPECT_THAT(of.reason, HasSubstr(of.ranks.contains(0) ? "deleted" : "a moment of the first event"));
}

TEST_F(Notified, WhatOthersSendChangesNothing) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, board_.name().data(), board_.name().size());
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  const auto send = [&](const std::string& bytes) {
    return sendto(socket, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&address),
                  static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + board_.name().size()));
  };
  EXPECT_EQ(send(""), 0);
  EXPECT_EQ(send(std::string(5000, 'x')), 5000);
  for (int i = 0; i < 200; ++i) send("lockstep notice 1\n0\nreason " + std::to_string(i) + "\nprogram");
  for (const char* beginning : {"", "0", "-1", "x", "99999999999"})
    send("lockstep beginning 1\n0\n" + std::string(beginning) + "\nprogram");
  close(socket);
  notices::send("reason 7", 3, 2000);
  const std::vector<Unrecorded> all = board_.take(kNone);
  ASSERT_THAT(all, SizeIs(65)) << "reasons are bounded";
  EXPECT_EQ(all[0].reason, "other reasons");
  EXPECT_EQ(all[0].processes, 136U);
  EXPECT_EQ(all[1].reason, "reason 7");
  EXPECT_EQ(all[1].processes, 2U);
  EXPECT_EQ(board_.trouble(), "");
}

TEST(InWords, ThoseThatWereOnlySeenWereLeftAlone) {
  Unrecorded seen;
  seen.reason = "it is a 32-bit program, and Lockstep's library is not";
  seen.processes = 2;
  seen.programs = {"/opt/licensed"};
  seen.users = {getuid()};
  seen.process_ids = {17, 18};
  seen.only_seen = true;
  EXPECT_THAT(
      in_words({seen}),
      ElementsAre("2 processes were left alone: it is a 32-bit program, and Lockstep's library is not "
                  "(licensed; processes 17, 18)"));
  seen.processes = 1;
  EXPECT_THAT(in_words({seen}), ElementsAre(HasSubstr("1 process was left alone: ")));
  seen.reason = kOtherNetwork;
  EXPECT_THAT(in_words({seen}), ElementsAre(HasSubstr("1 process left no file: it ran in another network")));
}

}  // namespace
}  // namespace lockstep::tracer::record

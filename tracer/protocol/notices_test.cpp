#include "tracer/protocol/notices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace lockstep::tracer::notices {
namespace {

TEST(Notices, AreReadAsTheyWereSent) {
  const std::optional<Notice> notice = parse(
      "lockstep notice 1\n12\nits file could not be created: No space left on device\n/usr/bin/python3");
  ASSERT_TRUE(notice.has_value());
  EXPECT_EQ(notice->rank, 12);
  EXPECT_EQ(notice->reason, "its file could not be created: No space left on device");
  EXPECT_EQ(notice->program, "/usr/bin/python3");
  const std::optional<Notice> nameless = parse("lockstep notice 1\n-1\nit is statically linked\n");
  ASSERT_TRUE(nameless.has_value());
  EXPECT_EQ(nameless->rank, -1);
  EXPECT_EQ(nameless->program, "");
}

TEST(Notices, OfSomebodyElseAreNone) {
  for (const char* other :
       {"", "\n\n\n", "lockstep notice 2\n0\nwhy\nprogram", "lockstep notice 1\nx\nwhy\nprogram",
        "lockstep notice 1\n-2\nwhy\nprogram", "lockstep notice 1\n0\n\nprogram", "lockstep notice 1\n0\nwhy",
        "lockstep notice 1\n99999999999\nwhy\nprogram"})
    EXPECT_FALSE(parse(other).has_value()) << other;
  std::mt19937_64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = "lockstep notice 1\n0\nwhy\nprogram";
    for (int changes = 0; changes < 3; ++changes)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    const std::optional<Notice> notice = parse(bytes);
    ASSERT_FALSE(notice.has_value() && notice->reason.empty());
  }
}

// Nobody listens: nothing happens, and errno is the program's.
TEST(Notices, WithoutAListenerAreLost) {
  unsetenv(kVariable);
  errno = 42;
  send("why", 0, 1000);
  for (const char* name : {"", "lockstep-nobody",
                           "a name that is far too long for a socket's address, which has "
                           "room for a hundred and eight bytes and no more than that"}) {
    setenv(kVariable, name, 1);
    send("why", 0, 1000);
  }
  EXPECT_EQ(errno, 42);
  unsetenv(kVariable);
}

// All ranks of a host may begin at once: the queue is full until the recorder has had its turn.
TEST(Notices, OfABeginningWaitAMomentForRoom) {
  const std::string name = "lockstep-notices-test-" + std::to_string(getpid());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const auto* const to = reinterpret_cast<const sockaddr*>(&address);
  const int listener = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const int sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(listener, to, length), 0);
  while (sendto(sender, "x", 1, MSG_DONTWAIT, to, length) == 1) {
  }
  setenv(kVariable, name.c_str(), 1);
  const auto began = std::chrono::steady_clock::now();
  send_beginning(4711, 3);
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(5)) << "given up too soon";
  char bytes[kMaxBytes];
  std::vector<std::string> heard;
  const auto hear_all = [&] {
    for (ssize_t count = 0; (count = recv(listener, bytes, sizeof bytes, MSG_DONTWAIT)) >= 0;)
      heard.emplace_back(bytes, static_cast<std::size_t>(count));
  };
  hear_all();
  EXPECT_THAT(heard, testing::Each("x")) << "there was no room";
  send_beginning(4711, 3);
  hear_all();
  unsetenv(kVariable);
  close(sender);
  close(listener);
  const std::optional<Notice> notice = parse(heard.back());
  ASSERT_TRUE(notice.has_value());
  EXPECT_EQ(notice->process, 4711);
  EXPECT_EQ(notice->rank, 3);
}

}  // namespace
}  // namespace lockstep::tracer::notices

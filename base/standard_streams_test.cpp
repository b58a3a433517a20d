#include "base/standard_streams.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

namespace lockstep {
namespace {

// Runs `body` in a process of its own; how that ended.
template <class Body>
int status_of(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGPIPE, SIG_DFL);
    _exit(body());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(StandardStreams, WhatIsLargerThanAPipeArrivesWhole) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + "\n";
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    write_to_stderr(text);
    _exit(0);
  }
  close(ends[1]);
  std::string read_back(text.size() + 1, '\0');
  std::size_t size = 0;
  for (ssize_t n = 0; (n = read(ends[0], read_back.data() + size, read_back.size() - size)) > 0;)
    size += static_cast<std::size_t>(n);
  read_back.resize(size);
  EXPECT_EQ(read_back, text);
  close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(StandardStreams, APipeWithoutAReaderKillsNobody) {
  const int status = status_of([] {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) return 1;
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    errno = 77;
    write_to_stderr("nobody reads this\n");
    sigset_t pending;
    sigpending(&pending);
    return errno == 77 && sigismember(&pending, SIGPIPE) == 0 ? 5 : 1;
  });
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 5);
}

TEST(StandardStreams, ABrokenPipeOfSomebodyElseStaysPending) {
  const int status = status_of([] {
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, SIGPIPE);
    sigprocmask(SIG_BLOCK, &only, nullptr);
    raise(SIGPIPE);
    write_to_stderr("");
    close(STDERR_FILENO);
    write_to_stderr("lost");
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1 ? 5 : 1;
  });
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 5);
}

TEST(StandardStreams, AReaderThatHasStoppedReadingIsNotWaitedFor) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    write_to_stderr(std::string(10'000'000, 'x'));
    _exit(5);
  }
  int status = -1;
  waitpid(child, &status, 0);  // the pipe is never read
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 5);
  close(ends[0]);
  close(ends[1]);
}

// It says that it is ready when it has room for a byte.
TEST(StandardStreams, ATerminalThatIsNotReadIsNotWaitedFor) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(grantpt(terminal), 0);
  ASSERT_EQ(unlockpt(terminal), 0);
  const std::string name = ptsname(terminal);
  const int status = status_of([&] {
    alarm(60);
    dup2(open(name.c_str(), O_WRONLY | O_NOCTTY), STDERR_FILENO);
    // The second is lost at once.
    for (int i = 0; i < 100; ++i) write_to_stderr(std::string(3'001, 'x'));
    return (fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK) == 0 ? 5 : 1;
  });
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 5);
  close(terminal);
}

TEST(StandardStreams, AFullDiskIsSurvived) {
  const int status = status_of([] {
    dup2(open("/dev/full", O_WRONLY), STDERR_FILENO);
    write_to_stderr("lost\n");
    return 5;
  });
  EXPECT_EQ(WEXITSTATUS(status), 5);
}

TEST(StandardStreams, WhatOthersChoseDoesNotSpeakToTheTerminal) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    tell(
        "a\x1b[31mb\r\a\x7f\xc2\x9b"
        "1m é\tc\n" +
        std::string(5000, 'x') + "\x1b\n");
    _exit(0);
  }
  close(ends[1]);
  std::string text(20'000, '\0');
  std::size_t size = 0;
  for (ssize_t n = 0; (n = read(ends[0], text.data() + size, text.size() - size)) > 0;)
    size += static_cast<std::size_t>(n);
  text.resize(size);
  close(ends[0]);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(text, "a\\x1b[31mb\\x0d\\x07\\x7f\\xc2\\x9b1m é\tc\n" + std::string(5000, 'x') + "\\x1b\n");
}

TEST(StandardStreams, NoFileGetsTheNumberOfAClosedOne) {
  const int status = status_of([] {
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    hold_closed_streams();
    const int file = open("/dev/null", O_RDWR);
    if (file <= STDERR_FILENO) return 1;
    char byte = 'x';
    if (write(STDOUT_FILENO, &byte, 1) != -1 || errno != EBADF) return 2;
    if (write(STDERR_FILENO, &byte, 1) != -1 || errno != EBADF) return 3;
    if (read(STDIN_FILENO, &byte, 1) != -1 || errno != EBADF) return 4;
    for (const int stream : {0, 1, 2})
      if ((fcntl(stream, F_GETFD) & FD_CLOEXEC) == 0) return 5;
    return 77;
  });
  EXPECT_EQ(WEXITSTATUS(status), 77);
}

TEST(StandardStreams, OpenOnesStayAsTheyAre) {
  const int status = status_of([] {
    dup2(open("/dev/null", O_RDWR), STDOUT_FILENO);
    hold_closed_streams();
    char byte = 'x';
    return write(STDOUT_FILENO, &byte, 1) == 1 && (fcntl(STDOUT_FILENO, F_GETFD) & FD_CLOEXEC) == 0 ? 5 : 1;
  });
  EXPECT_EQ(WEXITSTATUS(status), 5);
}

}  // namespace
}  // namespace lockstep

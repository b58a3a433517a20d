// What the report looks like on a terminal, with a pseudo-terminal in its place.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "tests/end_to_end/kineto_files.h"
#include "tests/end_to_end/support.h"

namespace lockstep::end_to_end {
namespace {

using testing::HasSubstr;
using testing::Not;

// All that `argv` writes to a terminal of `columns` columns, stdout and stderr together.
std::string run_on_terminal(const std::vector<std::string>& argv, unsigned short columns,
                            const std::map<std::string, std::string>& environment) {
  winsize size{};
  size.ws_col = columns;
  size.ws_row = 50;
  int master = -1;
  const pid_t child = forkpty(&master, nullptr, nullptr, &size);
  if (child == 0) {
    for (const char* name : {"COLUMNS", "NO_COLOR", "COLORTERM", "COLORFGBG", "LC_ALL", "LC_CTYPE"})
      unsetenv(name);
    setenv("TERM", "xterm-256color", 1);
    setenv("LANG", "C.UTF-8", 1);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> arguments;
    for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  EXPECT_GT(child, 0);
  std::string output;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(master, buffer, sizeof buffer)) > 0;)
    output.append(buffer, static_cast<std::size_t>(n));
  close(master);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << output;
  return output;
}

class Terminal : public testing::Test {
 protected:
  void SetUp() override { write_two_ranks(traces_); }
  std::string analyze(unsigned short columns, const std::map<std::string, std::string>& environment = {},
                      std::vector<std::string> more = {}) {
    std::vector<std::string> argv{binary("lockstep"), "analyze", traces_};
    argv.insert(argv.end(), more.begin(), more.end());
    return run_on_terminal(argv, columns, environment);
  }
  const TemporaryFolder folder_;
  const std::string traces_ = folder_ / "traces";
};

TEST_F(Terminal, IsColouredAsDeepAsItCan) {
  EXPECT_THAT(analyze(100), HasSubstr("\x1b[38;5;"));
  EXPECT_THAT(analyze(100, {{"COLORTERM", "truecolor"}}), HasSubstr("\x1b[38;2;216;75;39m"));  // on dark
  EXPECT_THAT(analyze(100, {{"COLORTERM", "truecolor"}, {"COLORFGBG", "0;15"}}),
              HasSubstr("\x1b[38;2;190;54;1m"));
}

TEST_F(Terminal, IsNotColouredWhereItShouldNotBe) {
  EXPECT_THAT(analyze(100, {{"NO_COLOR", "1"}}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(analyze(100, {{"TERM", "dumb"}}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(analyze(100, {}, {"--color", "never"}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(analyze(100, {{"NO_COLOR", "1"}}, {"--color", "always"}), HasSubstr("\x1b["));
}

TEST_F(Terminal, WidthFollowsIt) {
  const auto longest = [](const std::string& text) {
    std::size_t longest = 0, length = 0;
    for (const char c : text) {
      length = c == '\n' ? 0 : length + (c == '\r' ? 0 : 1);
      longest = std::max(longest, length);
    }
    return longest;
  };
  const std::map<std::string, std::string> plain{{"NO_COLOR", "1"}};
  EXPECT_LE(longest(analyze(60, plain, {"--ascii"})), 60u);
  EXPECT_GT(longest(analyze(140, plain, {"--ascii"})), 100u);
  EXPECT_LE(longest(analyze(140, {{"NO_COLOR", "1"}, {"COLUMNS", "70"}}, {"--ascii"})), 70u);
}

TEST_F(Terminal, WithoutUtf8IsAscii) {
  for (const char c : analyze(100, {{"LC_ALL", "C"}, {"NO_COLOR", "1"}}))
    EXPECT_LT(static_cast<unsigned char>(c), 128);
}

}  // namespace
}  // namespace lockstep::end_to_end

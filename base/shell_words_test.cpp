#include "base/shell_words.h"

#include <gtest/gtest.h>

#include <vector>

namespace lockstep {
namespace {

TEST(ShellWords, AreQuotedWhereAShellWouldTakeThemForSomethingElse) {
  EXPECT_EQ(for_shell(std::string("runs/2026-11-28_a+b,c:d@e%")), "runs/2026-11-28_a+b,c:d@e%");
  EXPECT_EQ(for_shell(std::string("my runs")), "'my runs'");
  EXPECT_EQ(for_shell(std::string("$(date); *")), "'$(date); *'");
  EXPECT_EQ(for_shell(std::string("it's")), "'it'\\''s'");
  EXPECT_EQ(for_shell(std::string()), "''");
}

TEST(ShellWords, OfACommandStandWithASpaceBetween) {
  EXPECT_EQ(for_shell(std::vector<std::string>{"lockstep", "diff", "a b", "c"}), "lockstep diff 'a b' c");
}

}  // namespace
}  // namespace lockstep

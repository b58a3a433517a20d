#include "tracer/inject/core/own_descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>

namespace lockstep::tracer {
namespace {

bool is_open(int number) {
  return fcntl(number, F_GETFD) >= 0;
}

TEST(OwnDescriptor, IsClosedAtItsEnd) {
  const int number = open("/dev/null", O_RDONLY | O_CLOEXEC);
  {
    const OwnDescriptor own(number);
    EXPECT_EQ(own.number(), number);
  }
  EXPECT_FALSE(is_open(number));
}

// The program closed it, and opened a file of its own, which has got the number.
TEST(OwnDescriptor, LeavesWhatIsSomebodyElsesByNow) {
  const int number = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  std::optional<OwnDescriptor> own(std::in_place, number);
  close(number);
  EXPECT_EQ(own->number(), -1);
  ASSERT_EQ(open("/dev/null", O_RDONLY | O_CLOEXEC), number);
  EXPECT_EQ(own->number(), -1);
  own.reset();
  EXPECT_TRUE(is_open(number));
  close(number);
}

TEST(OwnDescriptor, OfNoFileIsNone) {
  const OwnDescriptor none(-1);
  EXPECT_EQ(none.number(), -1);
}

}  // namespace
}  // namespace lockstep::tracer

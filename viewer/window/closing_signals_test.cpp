#include "viewer/window/closing_signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <future>

namespace lockstep::viewer {
namespace {

TEST(ClosingSignals, TheFirstOneClosesAndTheProcessLivesOn) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    std::promise<void> closed;
    ClosingSignals signals([&closed] { closed.set_value(); });
    EXPECT_EQ(signals.received(), 0);
    ASSERT_EQ(::kill(::getpid(), signal), 0);
    closed.get_future().wait();
    EXPECT_EQ(signals.received(), signal);
  }
}

TEST(ClosingSignals, NoneIsWaitedForAfterItsEnd) {
  {
    const ClosingSignals signals([] { ADD_FAILURE() << "nobody sent one"; });
  }
  EXPECT_EXIT(std::raise(SIGTERM), testing::KilledBySignal(SIGTERM), "");
}

TEST(ClosingSignals, TheProcessEndsAsTheSignalWouldHaveEndedIt) {
  EXPECT_EXIT(
      {
        std::promise<void> closed;
        ClosingSignals signals([&closed] { closed.set_value(); });
        ::kill(::getpid(), SIGINT);
        closed.get_future().wait();
        end_by(signals.received());
      },
      testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace lockstep::viewer

// Streams run their work in order, beside the caller.
#include "reference_trainer/streams/stream.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace lockstep::trainer {
namespace {

TEST(Stream, RunsInOrder) {
  std::vector<int> order;
  {
    HostStream stream("test");
    for (int i = 0; i < 1000; ++i) stream.enqueue({.run = [&order, i] { order.push_back(i); }});
  }
  ASSERT_EQ(order.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(Stream, RunsBesideTheCaller) {
  HostStream stream("test");
  std::atomic<bool> go{false};
  const Event event = stream.enqueue({.run = [&go] { go.wait(false); }});
  EXPECT_FALSE(event.done());  // the caller is here while the work goes on
  go = true;
  go.notify_all();
  event.wait();
  EXPECT_TRUE(event.done());
}

TEST(Stream, TwoStreamsDoNotWaitForEachOther) {
  HostStream one("one"), other("other");
  std::atomic<bool> go{false};
  const Event first = one.enqueue({.run = [&go] { go.wait(false); }});
  const Event second = other.enqueue({.run = [&go] {
    go = true;
    go.notify_all();
  }});
  second.wait();
  first.wait();
}

TEST(Stream, AFailureReachesEveryoneWhoWaitsAndStopsWhatFollows) {
  HostStream stream("test");
  bool ran = false;
  const Event before = stream.enqueue({.run = [] {}});
  const Event failed = stream.enqueue({.run = [] { throw std::runtime_error("peer is gone"); }});
  const Event after = stream.enqueue({.run = [&ran] { ran = true; }});
  EXPECT_NO_THROW(before.wait());
  EXPECT_THROW(failed.wait(), std::runtime_error);
  EXPECT_THROW(failed.wait(), std::runtime_error);
  EXPECT_THROW(after.wait(), std::runtime_error);
  EXPECT_FALSE(ran);
}

TEST(Stream, WorkBeginsWhenWhatItComesAfterIsDone) {
  HostStream first("first"), second("second");
  std::atomic<bool> go{false};
  std::vector<int> order;
  const Event one = first.enqueue({.run = [&] {
    go.wait(false);
    order.push_back(1);
  }});
  const Event two = second.enqueue({.run = [&order] { order.push_back(2); }, .after = {one}});
  EXPECT_FALSE(two.done());
  go = true;
  go.notify_all();
  two.synchronize();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(Stream, AFailureReachesTheStreamsThatComeAfterIt) {
  HostStream first("first"), second("second");
  const Event failed = first.enqueue({.run = [] { throw std::runtime_error("peer is gone"); }});
  bool ran = false;
  const Event after = second.enqueue({.run = [&ran] { ran = true; }, .after = {failed}});
  EXPECT_THROW(after.wait(), std::runtime_error);
  EXPECT_FALSE(ran);
}

TEST(Stream, AnEventOfNothingIsDone) {
  EXPECT_TRUE(Event().done());
  EXPECT_NO_THROW(Event().wait());
}

}  // namespace
}  // namespace lockstep::trainer

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
    Stream stream("test");
    for (int i = 0; i < 1000; ++i) stream.enqueue([&order, i] { order.push_back(i); });
  }
  ASSERT_EQ(order.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(Stream, RunsBesideTheCaller) {
  Stream stream("test");
  std::atomic<bool> go{false};
  const Event event = stream.enqueue([&go] { go.wait(false); });
  EXPECT_FALSE(event.done());  // the caller is here while the work goes on
  go = true;
  go.notify_all();
  event.wait();
  EXPECT_TRUE(event.done());
}

TEST(Stream, TwoStreamsDoNotWaitForEachOther) {
  Stream one("one"), other("other");
  std::atomic<bool> go{false};
  const Event first = one.enqueue([&go] { go.wait(false); });
  const Event second = other.enqueue([&go] {
    go = true;
    go.notify_all();
  });
  second.wait();
  first.wait();
}

TEST(Stream, AFailureReachesEveryoneWhoWaitsAndStopsWhatFollows) {
  Stream stream("test");
  bool ran = false;
  const Event before = stream.enqueue([] {});
  const Event failed = stream.enqueue([] { throw std::runtime_error("peer is gone"); });
  const Event after = stream.enqueue([&ran] { ran = true; });
  EXPECT_NO_THROW(before.wait());
  EXPECT_THROW(failed.wait(), std::runtime_error);
  EXPECT_THROW(failed.wait(), std::runtime_error);
  EXPECT_THROW(after.wait(), std::runtime_error);
  EXPECT_FALSE(ran);
}

TEST(Stream, AnEventOfNothingIsDone) {
  EXPECT_TRUE(Event().done());
  EXPECT_NO_THROW(Event().wait());
}

}  // namespace
}  // namespace lockstep::trainer

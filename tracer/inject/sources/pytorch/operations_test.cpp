#include "tracer/inject/sources/pytorch/operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "tracer/inject/sources/pytorch/test_operations.h"

namespace lockstep::tracer::pytorch {
namespace {

using testing::ElementsAre;

TEST(Operations, ACollectiveIsItsCallAndWhatItsWorkerDid) {
  const Written written = write([](Operations& operations) {
    declare(operations, "0", {{4, 2, 3}});
    operations.enqueue({0xA0, 1});
    CallRecord record = call(1, 1, 5);
    record.peer = 2;
    operations.call(record, kHost, 10, 20);
    operations.begin({0xA0, 0}, kWorker, kWorkerHost, 30);
    operations.end({0xA0, 0}, 45);
  });
  ASSERT_EQ(written.collectives.size(), 1U);
  const trace::Collective& event = written.collectives[0];
  EXPECT_EQ(event.lane, kWorker);
  EXPECT_EQ(event.begin, 30);
  EXPECT_EQ(event.end, 45);
  EXPECT_EQ(event.sequence, 5);
  EXPECT_EQ(event.bytes, 64U);
  EXPECT_EQ(event.peer, 8) << "the group's third rank is 4 + 2 · 2";
  ASSERT_EQ(written.groups.size(), 1U);
  EXPECT_THAT(written.groups[0].ranks, ElementsAre(4, 6, 8));
  ASSERT_EQ(written.calls.size(), 1U);
  EXPECT_EQ(written.calls[0].correlation, event.correlation);
  EXPECT_EQ(written.calls[0].begin, 10);
  EXPECT_EQ(written.calls[0].end, 20);
}

// Of a sparse tensor: an issue has another word for it than an operation.
TEST(Operations, BytesThatNobodyKnowsStayUnknown) {
  const Written written = write([](Operations& operations) {
    declare(operations, "0", {{0, 1, 2}});
    CallRecord record = call(1, 1);
    record.bytes = trace::kUnknownBytes;
    operations.enqueue({0xA0, 1});
    operations.call(record, kHost, 10, 20);
    operations.begin({0xA0, 0}, kWorker, kWorkerHost, 30);
    operations.end({0xA0, 0}, 45);
    record.call = 2;
    record.ends = Ends::on_device;
    operations.call(record, kHost, 50, 60);
  });
  ASSERT_EQ(written.collectives.size(), 1U);
  EXPECT_EQ(written.collectives[0].bytes, trace::kUnknownBytes);
  ASSERT_EQ(written.issues.size(), 1U);
  EXPECT_EQ(written.issues[0].bytes, 0U);
}

TEST(Operations, WhatAGpuCarriesOutIsIssued) {
  const Written written = write([](Operations& operations) {
    declare(operations, "world", {{0, 1, 4}});
    CallRecord reduced = call(1, 0, 5);
    reduced.ends = Ends::on_device;
    operations.call(reduced, kHost, 100, 110);
    CallRecord sent = call(2, 0, 0);
    sent.ends = Ends::on_device;
    sent.operation = trace::Operation::send;
    sent.peer = 3;
    sent.work = 0x77;
    operations.call(sent, kHost, 200, 210);
    operations.finish();
  });
  // When it ran, its kernel says.
  EXPECT_TRUE(written.collectives.empty());
  ASSERT_EQ(written.issues.size(), 2U);
  EXPECT_EQ(written.issues[0].begin, 100);
  EXPECT_EQ(written.issues[0].end, 110);
  EXPECT_EQ(written.issues[0].lane, kHost);
  EXPECT_EQ(written.issues[0].operation, trace::Operation::all_reduce);
  EXPECT_EQ(written.issues[0].sequence, 5);
  EXPECT_EQ(written.issues[0].bytes, 64U);
  EXPECT_EQ(written.issues[0].data_type, trace::DataType::float32);
  EXPECT_EQ(written.groups.at(written.issues[0].group).name, "world");
  EXPECT_EQ(written.issues[1].operation, trace::Operation::send);
  EXPECT_EQ(written.issues[1].peer, 3);
  EXPECT_EQ(written.issues[1].sequence, trace::kNoSequence);
}

TEST(Operations, TheWorkerMayBeDoneBeforeTheCallReturns) {
  const Written written = write([](Operations& operations) {
    operations.enqueue({0xA0, 1});
    operations.begin({0xA0, 0}, kWorker, kWorkerHost, 12);
    operations.end({0xA0, 0}, 14);
    operations.call(call(1, 1), kHost, 10, 20);
  });
  ASSERT_EQ(written.collectives.size(), 1U);
  EXPECT_EQ(written.collectives[0].begin, 12);
  EXPECT_EQ(written.collectives[0].end, 14);
  EXPECT_EQ(written.collectives[0].group, trace::kNoGroup) << "it was never declared";
}

// Seen of DDP: whoever waits by the work's future goes on, and the group's thread returns 30 ms later.
TEST(Operations, EndWhereTheirDataHasComeNotWhereTheThreadReturns) {
  const Written written = write([](Operations& operations) {
    operations.enqueue({0xA0, 1});
    operations.call(call(1, 1), kHost, 10, 20);
    operations.begin({0xA0, 0}, kWorker, kWorkerHost, 22);
    operations.end({0xA0, 0}, 30);
    operations.end({0xA0, 0}, 60);
    operations.enqueue({0xA0, 2});
    operations.call(call(2, 1), kHost, 70, 80);
    operations.begin({0xA0, 0}, kWorker, kWorkerHost, 82);
    operations.end({0xA0, 0}, 90);
  });
  ASSERT_EQ(written.collectives.size(), 2U);
  EXPECT_EQ(written.collectives[0].end, 30);
  EXPECT_EQ(written.collectives[1].end, 90);
}

TEST(Operations, SeveralWorksOfACallAreOneOperation) {
  const Written written = write([](Operations& operations) {
    operations.enqueue({0xA0, 1});
    operations.enqueue({0xB0, 1});
    operations.call(call(1, 2), kHost, 10, 20);
    operations.begin({0xB0, 0}, kWorker, kWorkerHost, 30);
    operations.begin({0xA0, 0}, kWorker, kWorkerHost, 32);
    operations.end({0xB0, 0}, 40);
    operations.end({0xA0, 0}, 50);
  });
  ASSERT_EQ(written.collectives.size(), 1U);
  EXPECT_EQ(written.collectives[0].begin, 30);
  EXPECT_EQ(written.collectives[0].end, 50);
}

TEST(Operations, AnAddressThatIsUsedAgainIsAnotherWork) {
  const Written written = write([](Operations& operations) {
    for (std::uint64_t number = 1; number <= 3; ++number) {
      const auto at = static_cast<trace::Nanoseconds>(100 * number);
      operations.enqueue({0xA0, number});
      operations.call(call(number, 1, static_cast<std::int64_t>(number)), kHost, at, at + 5);
      operations.begin({0xA0, 0}, kWorker, kWorkerHost, at + 10);
      operations.end({0xA0, 0}, at + 20);
    }
  });
  ASSERT_EQ(written.collectives.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(written.collectives[i].begin, static_cast<trace::Nanoseconds>(100 * (i + 1) + 10));
}

TEST(Operations, WorkOfNoCallThatWasSeenIsCounted) {
  std::uint64_t unknown = 0;
  const Written written = write([&](Operations& operations) {
    operations.enqueue({0xA0, 0});
    operations.begin({0xA0, 0}, kWorker, kWorkerHost, 10);
    operations.end({0xA0, 0}, 20);
    operations.begin({0xC0, 0}, kWorker, kWorkerHost, 10);
    unknown = operations.take_unknown_works();
    EXPECT_EQ(operations.take_unknown_works(), 0U);
  });
  EXPECT_EQ(unknown, 2U);
  EXPECT_TRUE(written.collectives.empty());
}

TEST(Operations, MessagesThatOverlapDoNotShareALane) {
  const auto message = [](std::uint64_t number, std::uint64_t work, trace::Operation operation) {
    CallRecord record = call(number, 0);
    record.work = work;
    record.operation = operation;
    record.peer = 1;
    return record;
  };
  const Written written = write([&](Operations& operations) {
    declare(operations, "pp", {{0, 1, 2}});
    operations.call(message(1, 0xA0, trace::Operation::send), kHost, 10, 12);
    operations.call(message(2, 0xB0, trace::Operation::recv), kHost, 20, 22);
    operations.end_message({0xA0, 0}, 40);
    operations.end_message({0xB0, 0}, 50);
    operations.end_message({0xB0, 0}, 60);  // waited for again
    operations.call(message(3, 0xA0, trace::Operation::send), kHost, 70, 72);
    operations.finish();  // the third was never waited for
  });
  ASSERT_EQ(written.collectives.size(), 3U);
  std::map<trace::LaneId, trace::Nanoseconds> busy;
  std::vector<trace::Collective> events = written.collectives;
  std::sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  for (const trace::Collective& event : events) {
    EXPECT_GE(event.begin, busy[event.lane]);
    busy[event.lane] = event.end;
  }
  EXPECT_EQ(events[0].end, 40);
  EXPECT_EQ(events[1].end, 50);
  EXPECT_EQ(events[2].end, 72);
  EXPECT_EQ(busy.size(), 2U);
}

// A schedule asks for messages early and looks after what it sent at the end of its step.
TEST(Operations, AMessageEndsWhenItIsCarriedOutNotWhenItIsWaitedFor) {
  const auto message = [](std::uint64_t number, std::uint64_t work) {
    CallRecord record = call(number, 0);
    record.work = work;
    record.operation = trace::Operation::send;
    record.peer = 1;
    return record;
  };
  const Written written = write([&](Operations& operations) {
    declare(operations, "pp", {{0, 1, 2}});
    operations.call(message(1, 0xA0), kHost, 10, 12);
    operations.message_done({0, 1}, 20);
    operations.message_done({0, 2}, 31);  // before its call returned
    operations.call(message(2, 0xB0), kHost, 30, 32);
    operations.call(message(3, 0xC0), kHost, 40, 42);  // of a transport that does not tell
    operations.end_message({0xA0, 0}, 90);
    operations.end_message({0xB0, 0}, 91);
    operations.end_message({0xC0, 0}, 92);
    operations.call(message(4, 0xD0), kHost, 100, 102);  // nobody waits for it,
    operations.call(message(5, 0xD0), kHost, 110, 112);  // and another one gets its address
    operations.end_message({0xD0, 0}, 120);
  });
  std::vector<std::pair<trace::Nanoseconds, trace::Nanoseconds>> intervals;
  for (const trace::Collective& event : written.collectives) intervals.emplace_back(event.begin, event.end);
  std::sort(intervals.begin(), intervals.end());
  using testing::Pair;
  EXPECT_THAT(intervals,
              ElementsAre(Pair(10, 20), Pair(30, 31), Pair(40, 92), Pair(100, 102), Pair(110, 120)));
}

TEST(Operations, OneThatNeverEndsIsLeftOpenOnce) {
  const Written written = write([](Operations& operations) {
    operations.enqueue({0xA0, 1});
    operations.call(call(1, 1), kHost, 10, 20);
    operations.begin({0xA0, 0}, kWorker, kWorkerHost, 30);
    operations.note_open(25);
    operations.note_open(100);
    operations.note_open(200);
  });
  EXPECT_TRUE(written.collectives.empty());
  ASSERT_EQ(written.open.size(), 1U);
  EXPECT_EQ(written.open[0].begin, 30);
  EXPECT_EQ(written.open[0].lane, kWorkerHost);
}

// A receive that nothing is sent for is left open; one that ended late is closed.
TEST(Operations, AMessageThatNeverEndsIsLeftOpenOnce) {
  constexpr trace::Nanoseconds kSecond = 1'000'000'000;
  const auto message = [](std::uint64_t number, std::uint64_t work, trace::Operation operation) {
    CallRecord record = call(number, 0);
    record.work = work;
    record.operation = operation;
    return record;
  };
  const Written written = write([&](Operations& operations) {
    operations.call(message(1, 0xA0, trace::Operation::send), kHost, 10, 12);  // nobody tells of its end yet
    operations.call(message(2, 0xB0, trace::Operation::recv), kHost, 20, 22);
    operations.call(message(3, 0xC0, trace::Operation::recv), kHost, 30, 32);
    operations.note_open(kSecond);  // not for long enough
    operations.note_open(2 * kSecond);
    operations.note_open(3 * kSecond);
    operations.end_message({0xC0, 0}, 4 * kSecond);
    operations.finish();
  });
  ASSERT_EQ(written.open.size(), 2U);
  std::vector<trace::Nanoseconds> begins{written.open[0].begin, written.open[1].begin};
  std::sort(begins.begin(), begins.end());
  EXPECT_THAT(begins, ElementsAre(20, 30));
  // The one that ended, and the one that nobody waited for.
  ASSERT_EQ(written.collectives.size(), 2U);
  EXPECT_EQ(written.collectives[0].end, 4 * kSecond);
  EXPECT_EQ(written.collectives[1].begin, 10);
  EXPECT_EQ(written.collectives[1].end, 12);
}

// MPI: one thread carries out a group's collectives, one after the other, and says when each is over.
TEST(Operations, AFinishedCollectiveBeginsWhenTheOneBeforeItEnded) {
  const auto mpi = [](std::uint64_t number, std::uint64_t work) {
    CallRecord record = call(number, 0);
    record.ends = Ends::finished;
    record.work = work;
    return record;
  };
  const Written written = write([&](Operations& operations) {
    operations.call(mpi(1, 0xA0), kHost, 10, 12);
    operations.call(mpi(2, 0xB0), kHost, 20, 22);
    operations.finished({0xA0, 0}, kWorker, 40);
    operations.finished({0xB0, 0}, kWorker, 60);
    operations.end_message({0xB0, 0}, 90);         // waited for, long after
    operations.finished({0xC0, 0}, kWorker, 101);  // before its call returned
    operations.call(mpi(3, 0xC0), kHost, 100, 102);
    operations.finished({0xD0, 0}, kWorker, 110);  // of a call that was lost
    operations.call(mpi(4, 0xD0), kHost, 120, 122);
    operations.finished({0xD0, 0}, kWorker, 130);
    EXPECT_FALSE(operations.has_lost_ends());
  });
  std::vector<std::pair<trace::Nanoseconds, trace::Nanoseconds>> intervals;
  for (const trace::Collective& event : written.collectives) {
    EXPECT_EQ(event.lane, kWorker);
    intervals.emplace_back(event.begin, event.end);
  }
  using testing::Pair;
  EXPECT_THAT(intervals, ElementsAre(Pair(10, 40), Pair(40, 60), Pair(100, 101), Pair(120, 130)));
}

// UCC: who waits hears that a collective is over, and nobody else.
TEST(Operations, OfACollectiveThatNobodyWaitedForNoIntervalIsClaimed) {
  const auto ucc = [](std::uint64_t number, std::uint64_t work) {
    CallRecord record = call(number, 0);
    record.ends = Ends::waited;
    record.work = work;
    return record;
  };
  const Written written = write([&](Operations& operations) {
    operations.call(ucc(1, 0xA0), kHost, 10, 12);
    operations.end_message({0xA0, 0}, 40);
    operations.call(ucc(2, 0), kHost, 50, 52);  // of a batch: it has no work
    EXPECT_FALSE(operations.has_lost_ends());
    operations.call(ucc(3, 0xA0), kHost, 60, 62);
    operations.call(ucc(4, 0xA0), kHost, 70, 72);  // the work before it is gone
    EXPECT_TRUE(operations.has_lost_ends());
    operations.finish();
  });
  ASSERT_EQ(written.collectives.size(), 1U);
  EXPECT_EQ(written.collectives[0].begin, 10);
  EXPECT_EQ(written.collectives[0].end, 40);
  EXPECT_EQ(written.calls.size(), 4U);
  // That the rank came to the others is told.
  EXPECT_THAT(written.issue_names, ElementsAre("c10d.end_unknown.all_reduce", "c10d.end_unknown.all_reduce"));
}

TEST(Operations, OpenAreTheFirstInItsQueueAndTheOneThatIsWaitedFor) {
  constexpr trace::Nanoseconds kSecond = 1'000'000'000;
  const auto issued = [](std::uint64_t number, Ends ends) {
    CallRecord record = call(number, 0);
    record.ends = ends;
    record.work = 0xA0 + number;
    return record;
  };
  const Written written = write([&](Operations& operations) {
    operations.call(issued(1, Ends::finished), kHost, 10, 12);
    operations.call(issued(2, Ends::finished), kHost, 20, 22);
    operations.call(issued(3, Ends::waited), kHost, 30, 32);
    operations.call(issued(4, Ends::waited), kHost, 40, 42);
    operations.wait_began(7, {0xA4, 0});
    operations.note_open(2 * kSecond);
  });
  std::vector<trace::Nanoseconds> begins;
  for (const trace::OpenRange& range : written.open) begins.push_back(range.begin);
  std::sort(begins.begin(), begins.end());
  EXPECT_THAT(begins, ElementsAre(10, 40));
}

TEST(Operations, RecordsCutShortAreIgnored) {
  const Written written = write([](Operations& operations) {
    GroupRecord record;
    record.name_bytes = 100;
    record.run_count = 0xFFFFFFFF;
    operations.group(reinterpret_cast<const std::byte*>(&record), sizeof record);
    operations.group(reinterpret_cast<const std::byte*>(&record), 3);
  });
  EXPECT_TRUE(written.groups.empty());
}

// Seen on busy cores: the group's thread lost its core when it had told the one that waited, and noted the
// end 4 ms later.
TEST(Operations, EndsWhenWhoWaitedForItGoesOn) {
  const Written written = write([](Operations& operations) {
    operations.enqueue({0xA0, 1});
    operations.begin({0xA0, 0}, kWorker, kWorkerHost, 12);
    EXPECT_EQ(operations.call(call(1, 1), kHost, 10, 14), 12);
    operations.wait_began(70, {});
    operations.wait_ended(70, {0xA0, 0}, 40);
    operations.end({0xA0, 0}, 4000);
    // Of one that ended before it was waited for its own note tells.
    operations.enqueue({0xA0, 2});
    EXPECT_EQ(operations.call(call(2, 1, 1), kHost, 5000, 5010), std::nullopt) << "nobody has begun with it";
    operations.begin({0xA0, 0}, kWorker, kWorkerHost, 5020);
    operations.end({0xA0, 0}, 5050);
    operations.wait_ended(70, {0xA0, 0}, 5090);
    EXPECT_EQ(operations.take_unknown_works(), 0U);
  });
  ASSERT_EQ(written.collectives.size(), 2U);
  EXPECT_EQ(written.collectives[0].begin, 12);
  EXPECT_EQ(written.collectives[0].end, 40);
  EXPECT_EQ(written.collectives[1].end, 5050);
}

TEST(Operations, WhoWaitsAtOnceComputesNothingWhileItsCallLasts) {
  const Called blocking{5'000'000, 40'000};
  EXPECT_EQ(blocking.computed_until(5'020'000), 40'000) << "handed over, and waited for";
  EXPECT_EQ(blocking.computed_until(9'000'000), 9'000'000) << "computed in between";
  EXPECT_EQ((Called{5'000'000, std::nullopt}.computed_until(5'020'000)), 5'020'000) << "nobody had begun";
  EXPECT_EQ(Called{}.computed_until(5'020'000), 5'020'000) << "nothing was handed over";
}

}  // namespace
}  // namespace lockstep::tracer::pytorch

// Operations that end when somebody waits for them, or when MPI's thread says so: what is lost, left and
// late.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tracer/inject/sources/pytorch/test_operations.h"

namespace lockstep::tracer::pytorch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr trace::Nanoseconds kSecond = 1'000'000'000;
constexpr std::uint32_t kThread = 70;

CallRecord issued(std::uint64_t number, std::uint64_t work, Ends ends) {
  CallRecord record = call(number, 0, static_cast<std::int64_t>(number));
  record.ends = ends;
  record.work = work;
  return record;
}
CallRecord mpi(std::uint64_t number, std::uint64_t work) {
  return issued(number, work, Ends::finished);
}
CallRecord ucc(std::uint64_t number, std::uint64_t work) {
  return issued(number, work, Ends::waited);
}

std::vector<std::pair<trace::Nanoseconds, trace::Nanoseconds>> intervals(const Written& written) {
  std::vector<std::pair<trace::Nanoseconds, trace::Nanoseconds>> all;
  for (const trace::Collective& event : written.collectives) all.emplace_back(event.begin, event.end);
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<std::int64_t> sequences(const std::vector<trace::CollectiveIssue>& issues) {
  std::vector<std::int64_t> all;
  for (const trace::CollectiveIssue& issue : issues) all.push_back(issue.sequence);
  std::sort(all.begin(), all.end());
  return all;
}

// The second is noted as open since it was issued, and turns out to have begun when the first ended.
TEST(WaitedOperations, WhatWasNotedAsOpenEndsThoughItBeganLater) {
  const Written written = write([](Operations& operations) {
    operations.call(mpi(1, 0xA0), kHost, 10, 12);
    operations.call(mpi(2, 0xB0), kHost, 20, 22);
    operations.wait_began(kThread, {0xB0, 0});
    operations.note_open(2 * kSecond);
    operations.finished({0xA0, 0}, kWorker, 5 * kSecond);
    operations.note_open(5 * kSecond + 1);
    operations.finished({0xB0, 0}, kWorker, 6 * kSecond);
    operations.wait_ended(kThread, {0xB0, 0}, 6 * kSecond + 1);
  });
  EXPECT_EQ(written.open.size(), 2U);
  EXPECT_THAT(written.unfinished, IsEmpty());
  EXPECT_THAT(intervals(written), ElementsAre(Pair(10, 5 * kSecond), Pair(5 * kSecond, 6 * kSecond)));
}

TEST(WaitedOperations, TheEndOfAWaitSettlesWhatItWaitedFor) {
  const Written written = write([](Operations& operations) {
    operations.call(ucc(1, 0xA0), kHost, 10, 12);
    operations.wait_began(kThread, {0xA0, 0});
    operations.wait_ended(kThread, {0xA0, 0}, 40);  // without message_end
    operations.wait_began(kThread, {});             // of a backend that tells by itself
    operations.wait_ended(kThread, {}, 50);
    EXPECT_FALSE(operations.left_wait(kThread, 60));
  });
  EXPECT_THAT(intervals(written), ElementsAre(Pair(10, 40)));
}

// MPI's thread keeps their order: what was issued before one that is over is over too.
TEST(WaitedOperations, ALostEndIsMadeUpForByALaterCollective) {
  const Written written = write([](Operations& operations) {
    operations.call(mpi(1, 0xA0), kHost, 10, 12);
    CallRecord elsewhere = mpi(2, 0xB0);
    elsewhere.backend = 0x2000;
    operations.call(elsewhere, kHost, 14, 16);
    operations.call(mpi(4, 0xD0), kHost, 20, 32);  // of another thread: nobody knows which was first
    operations.note_open(2 * kSecond);
    operations.call(mpi(3, 0xC0), kHost, 30, 34);
    operations.finished({0xC0, 0}, kWorker, 3 * kSecond);
    operations.finished({0xD0, 0}, kWorker, 4 * kSecond);
    operations.finish();
  });
  EXPECT_THAT(intervals(written), ElementsAre(Pair(30, 3 * kSecond), Pair(3 * kSecond, 4 * kSecond)));
  ASSERT_EQ(written.unfinished.size(), 1U);
  EXPECT_EQ(written.unfinished[0].begin, 14) << "of the other group";
  EXPECT_THAT(sequences(written.issues), testing::Contains(1)) << "when it ended is not known";
}

// The thread's record of the end was lost; who waited tells.
TEST(WaitedOperations, ACollectiveOfMpiThatOnlyItsWaiterTellsOfIsInItsOrder) {
  const Written written = write([](Operations& operations) {
    operations.call(mpi(1, 0xA0), kHost, 10, 12);
    operations.finished({0xA0, 0}, kWorker, 20);
    operations.call(mpi(2, 0xB0), kHost, 30, 32);
    operations.call(mpi(3, 0xC0), kHost, 34, 36);
    operations.end_message({0xB0, 0}, 50);
    operations.finished({0xC0, 0}, kWorker, 70);
  });
  EXPECT_THAT(intervals(written), ElementsAre(Pair(10, 20), Pair(30, 50), Pair(50, 70)));
  for (const trace::Collective& event : written.collectives) EXPECT_EQ(event.lane, kWorker);
}

// Else the rank would seem never to have come, where only others wait.
TEST(WaitedOperations, OfACollectiveThatNobodyWaitsForIsToldThatItWasIssued) {
  const Written written = write([](Operations& operations) {
    declare(operations, "world", {{0, 1, 2}});
    operations.call(ucc(1, 0xA0), kHost, 10, 12);
    operations.note_open(kSecond);  // somebody may yet wait for it
    operations.call(ucc(2, 0xA0), kHost, 20, 22);
    operations.note_open(2 * kSecond);  // in the file before the process ends, which may be killed
    operations.note_open(3 * kSecond);
    operations.finish();
  });
  EXPECT_THAT(written.collectives, IsEmpty());
  EXPECT_THAT(written.open, IsEmpty());
  EXPECT_THAT(written.issue_names, ElementsAre("c10d.end_unknown.all_reduce", "c10d.end_unknown.all_reduce"));
  EXPECT_THAT(sequences(written.issues), ElementsAre(1, 2));
  EXPECT_EQ(written.issues[0].begin, 10);
  EXPECT_EQ(written.issues[0].end, 12);
  EXPECT_EQ(written.issues[0].correlation, trace::kNoCorrelation);
  EXPECT_EQ(written.groups.at(written.issues[0].group).name, "world");
}

TEST(WaitedOperations, AWaitThatEndedByAnExceptionIsLeft) {
  const Written written = write([](Operations& operations) {
    operations.call(ucc(1, 0xA0), kHost, 10, 12);
    operations.wait_began(kThread, {0xA0, 0});
    EXPECT_FALSE(operations.left_wait(kThread + 1, 20));
    EXPECT_TRUE(operations.left_wait(kThread, 20));
    EXPECT_FALSE(operations.left_wait(kThread, 21));
    operations.note_open(2 * kSecond);
  });
  EXPECT_THAT(written.open, IsEmpty());
}

TEST(WaitedOperations, AWaitThatWasNotedAsOpenAndLeftEnds) {
  const Written written = write([](Operations& operations) {
    operations.call(ucc(1, 0xA0), kHost, 10, 12);
    operations.wait_began(kThread, {0xA0, 0});
    operations.wait_began(kThread + 1, {0xA0, 0});
    operations.note_open(2 * kSecond);
    EXPECT_TRUE(operations.left_wait(kThread, 3 * kSecond));  // the other one still waits
    EXPECT_TRUE(operations.left_wait(kThread + 1, 4 * kSecond));
    operations.note_open(9 * kSecond);
    operations.finish();
  });
  EXPECT_EQ(written.open.size(), 1U);
  EXPECT_THAT(written.unfinished, IsEmpty());
  EXPECT_THAT(sequences(written.issues), ElementsAre(1));
}

// Waited for again, and this time for ever.
TEST(WaitedOperations, AWaitAfterOneThatWasLeftIsOpenByItself) {
  const Written written = write([](Operations& operations) {
    operations.call(ucc(1, 0xA0), kHost, 10, 12);
    operations.wait_began(kThread, {0xA0, 0});
    operations.note_open(2 * kSecond);
    EXPECT_TRUE(operations.left_wait(kThread, 3 * kSecond));
    operations.wait_began(kThread, {0xA0, 0});
    operations.note_open(5 * kSecond);
    operations.finish();
  });
  ASSERT_EQ(written.unfinished.size(), 1U);
  EXPECT_EQ(written.unfinished[0].begin, 3 * kSecond);
}

// What MPI's thread carries out goes on without who waited for it.
TEST(WaitedOperations, ACollectiveOfMpiStaysOpenThoughAWaitForItWasLeft) {
  const Written written = write([](Operations& operations) {
    operations.call(mpi(1, 0xA0), kHost, 10, 12);
    operations.wait_began(kThread, {0xA0, 0});
    operations.note_open(2 * kSecond);
    EXPECT_TRUE(operations.left_wait(kThread, 3 * kSecond));
    operations.finish();
  });
  EXPECT_EQ(written.unfinished.size(), 1U);
}

TEST(WaitedOperations, WorkOfADeviceAtTheAddressOfAnotherEndsThatOne) {
  const Written written = write([](Operations& operations) {
    operations.call(ucc(1, 0xA0), kHost, 10, 12);
    operations.call(issued(2, 0xA0, Ends::on_device), kHost, 20, 22);
    operations.wait_began(kThread, {0xA0, 0});
    operations.wait_ended(kThread, {0xA0, 0}, 40);
    operations.finish();
  });
  EXPECT_THAT(written.collectives, IsEmpty());
  EXPECT_THAT(written.issue_names, ElementsAre("c10d.end_unknown.all_reduce", "c10d.all_reduce"));
}

TEST(WaitedOperations, CollectivesAndMessagesHaveLanesOfTheirOwn) {
  const Written written = write([](Operations& operations) {
    CallRecord sent = ucc(1, 0xA0);
    sent.operation = trace::Operation::send;
    operations.call(sent, kHost, 10, 12);
    operations.end_message({0xA0, 0}, 20);
    operations.call(ucc(2, 0xB0), kHost, 30, 32);
    operations.call(ucc(3, 0xC0), kHost, 34, 36);
    operations.end_message({0xB0, 0}, 50);
    operations.end_message({0xC0, 0}, 50);
    operations.call(ucc(4, 0xD0), kHost, 60, 62);
    operations.end_message({0xD0, 0}, 70);
  });
  std::vector<std::pair<trace::Nanoseconds, std::string>> lanes;
  for (const trace::Collective& event : written.collectives)
    lanes.emplace_back(event.begin, written.lanes.at(event.lane).name);
  std::sort(lanes.begin(), lanes.end());
  EXPECT_THAT(lanes, ElementsAre(Pair(10, "messages 1"), Pair(30, "collectives 1"), Pair(34, "collectives 2"),
                                 Pair(60, "collectives 1")));
}

}  // namespace
}  // namespace lockstep::tracer::pytorch

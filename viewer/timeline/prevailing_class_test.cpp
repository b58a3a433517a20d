#include "viewer/timeline/prevailing_class.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace lockstep::viewer {
namespace {

using analyzer::Activity;
using analyzer::Class;

struct Stream {
  std::vector<Nanoseconds> begin, end;
  std::vector<std::uint32_t> item;
  std::vector<Activity> activities;

  void add(Nanoseconds gap, Nanoseconds length, Class activity_class) {
    const Nanoseconds at = (end.empty() ? 0 : end.back()) + gap;
    Activity activity{at, at + length};
    activity.activity_class = activity_class;
    begin.push_back(at);
    end.push_back(at + length);
    item.push_back(static_cast<std::uint32_t>(activities.size()));
    activities.push_back(activity);
  }
  Row row() const { return {begin, end, {}, item, {}}; }
  FoldedBox fold() const { return {0, static_cast<std::uint32_t>(begin.size()), begin.front(), end.back()}; }
};

// By number of events it would be compute; by the one long one a sample may hit too often, transfer.
TEST(PrevailingClass, CountsTimeNotEvents) {
  Stream stream;
  for (int i = 0; i < 100; ++i) stream.add(1, 10, Class::compute);
  stream.add(1, 400, Class::collective);
  for (int i = 0; i < 50; ++i) stream.add(1, 10, Class::copy);
  const Row row = stream.row();
  const FoldedBox fold = stream.fold();
  EXPECT_EQ(PrevailingClass(row, stream.activities, fold).within(fold.begin, fold.end, 24), Class::compute);
  PrevailingClass parts(row, stream.activities, fold);
  EXPECT_EQ(parts.within(0, 1'100, 8), Class::compute);
  EXPECT_EQ(parts.within(1'101, 1'500, 8), Class::collective);
  EXPECT_EQ(parts.within(1'505, fold.end, 8), Class::copy);
}

// The device is free while the host waits.
TEST(PrevailingClass, IsSynchronisationOnlyWhereNothingElseRuns) {
  Stream stream;
  stream.add(1, 900, Class::sync);
  stream.add(1, 50, Class::unclassified);
  stream.add(1, 900, Class::sync);
  const Row row = stream.row();
  const FoldedBox fold = stream.fold();
  EXPECT_EQ(PrevailingClass(row, stream.activities, fold).within(0, 800, 12), Class::sync);
  EXPECT_EQ(PrevailingClass(row, stream.activities, fold).within(fold.begin, fold.end, 101),
            Class::unclassified);
}

TEST(PrevailingClass, OfAGapIsNone) {
  Stream stream;
  stream.add(100, 10, Class::compute);
  stream.add(1'000, 10, Class::copy);
  const Row row = stream.row();
  PrevailingClass prevailing(row, stream.activities, stream.fold());
  EXPECT_EQ(prevailing.within(0, 90, 8), std::nullopt);
  EXPECT_EQ(prevailing.within(200, 900, 8), std::nullopt);
}

TEST(PrevailingClass, OfEventsWithoutLengthIsTheirs) {
  Stream stream;
  for (int i = 0; i < 10; ++i) stream.add(0, 0, Class::copy);
  const Row row = stream.row();
  EXPECT_EQ(PrevailingClass(row, stream.activities, stream.fold()).within(0, 0, 8), Class::copy);
}

// Every instant, one by one.
TEST(PrevailingClass, AgreesWithLookingAtEachEvent) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 200; ++round) {
    Stream stream;
    for (std::size_t i = 0; i < 2 + random() % 60; ++i)
      stream.add(static_cast<Nanoseconds>(random() % 5), static_cast<Nanoseconds>(1 + random() % 20),
                 static_cast<Class>(random() % 4));
    const Row row = stream.row();
    const FoldedBox fold = stream.fold();
    PrevailingClass prevailing(row, stream.activities, fold);
    Nanoseconds begin = fold.begin;
    while (begin < fold.end) {
      const Nanoseconds end = begin + 1 + static_cast<Nanoseconds>(random() % 100);
      constexpr int kSamples = 8;
      std::map<Class, int> hits;
      for (int i = 0; i < kSamples; ++i) {
        const Nanoseconds time =
            begin + static_cast<Nanoseconds>(static_cast<double>(end - begin) * (i + 0.5) / kSamples);
        for (const Activity& activity : stream.activities)
          if (activity.begin <= time && time < activity.end) ++hits[activity.activity_class];
      }
      int most = 0;
      for (const auto& [activity_class, count] : hits) most = std::max(most, count);
      const auto found = prevailing.within(begin, end, kSamples);
      if (most == 0)
        EXPECT_EQ(found, std::nullopt);
      else
        EXPECT_EQ(hits[found.value()], most);
      begin = end;
    }
  }
}

}  // namespace
}  // namespace lockstep::viewer

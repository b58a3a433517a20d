// Compacting changes a file's size and nothing that a reader can see.
#include "trace/compact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/test_support.h"
#include "trace/training_trace.h"

namespace lockstep::trace {
namespace {

using test::must;
using test::Record;
using test::TemporaryFolder;

constexpr std::uint32_t kLanes = 5;
constexpr std::uint32_t kGroups = 3;

// A file of many small chunks, as a tracer leaves it that flushes often.
Record write_in_small_chunks(const std::string& path, int events) {
  test::RandomEvents random(7);
  Writer writer = must(Writer::create(path.c_str()));
  writer.set_metadata("rank", "3");
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    writer.add_lane(
        {.kind = LaneKind::host_thread, .process = 1, .handle = lane, .device = 0, .name = "lane"});
  }
  for (std::uint32_t group = 0; group < kGroups; ++group) {
    writer.add_group(
        {.name = "group", .description = "data parallel", .ranks = {0, 1}, .own_rank = 1, .size = 2});
  }
  Record record;
  for (int i = 0; i < events; ++i) {
    writer.intern(random.text(1 + random.below(20)));
    test::append_random(random, kLanes, kGroups, writer, record);
    if (i % 20 == 0) test::expect_ok(writer.flush());
  }
  test::expect_ok(writer.close());
  return record;
}

TEST(Compact, KeepsEveryEventAndTable) {
  const TemporaryFolder folder;
  const std::string path = folder / "rank-3.lst";
  Record record = write_in_small_chunks(path, 3000);
  const auto size_before = std::filesystem::file_size(path);
  std::vector<std::string> strings;
  std::vector<OpenRange> unfinished;
  {
    const Reader before = must(Reader::open(path));
    for (StringId id = 0; id < before.string_count(); ++id) strings.emplace_back(before.string(id));
    unfinished = must(before.unfinished_ranges());
  }

  EXPECT_TRUE(must(compact(path.c_str())));

  EXPECT_LT(std::filesystem::file_size(path), size_before);
  const Reader after = must(Reader::open(path));
  EXPECT_TRUE(after.complete());
  EXPECT_THAT(after.warnings(), testing::IsEmpty());
  EXPECT_EQ(after.metadata().at("rank"), "3");
  EXPECT_TRUE(after.metadata().contains(kCompacted));
  ASSERT_EQ(after.string_count(), strings.size());
  for (StringId id = 0; id < after.string_count(); ++id) EXPECT_EQ(after.string(id), strings[id]);
  ASSERT_EQ(after.lanes().size(), kLanes);
  EXPECT_EQ(after.lanes()[4].handle, 4U);
  ASSERT_EQ(after.groups().size(), kGroups);
  EXPECT_EQ(after.groups()[2].description, "data parallel");
  EXPECT_EQ(after.groups()[2].own_rank, 1);
  EXPECT_EQ(after.groups()[2].size, 2);
  EXPECT_EQ(must(after.unfinished_ranges()).size(), unfinished.size());

  Status status;
  Record kept = test::read_everything(after, status);
  test::expect_ok(status);
  // Open ranges are kept once and only if they never ended; all else is as it was.
  std::get<test::Events<OpenRange>>(record).clear();
  std::get<test::Events<OpenRange>>(kept).clear();
  test::expect_same_by_lane(record, kept, kLanes);
}

TEST(Compact, KeepsOneOfARangeThatWasOpenAtSeveralFlushes) {
  const TemporaryFolder folder;
  const std::string path = folder / "open.lst";
  {
    Writer writer = must(Writer::create(path.c_str()));
    const LaneId lane = writer.add_lane({});
    const StringId ended = writer.intern("ended");
    const StringId never = writer.intern("never ended");
    for (int flush = 0; flush < 9; ++flush) {
      writer.append(OpenRange{.lane = lane, .begin = 10, .name = ended});
      writer.append(OpenRange{.lane = lane, .begin = 20, .name = never});
      test::expect_ok(writer.flush());
    }
    writer.append(HostRange{.lane = lane, .end_lane = lane, .begin = 10, .end = 90, .name = ended});
    test::expect_ok(writer.close());
  }
  EXPECT_TRUE(must(compact(path.c_str())));
  const Reader after = must(Reader::open(path));
  EXPECT_EQ(after.count(EventKind::host_range), 1U);
  const std::vector<OpenRange> unfinished = must(after.unfinished_ranges());
  ASSERT_EQ(unfinished.size(), 1U);
  EXPECT_EQ(after.string(unfinished[0].name), "never ended");
  EXPECT_EQ(unfinished[0].begin, 20);
}

// Two ranges may begin at the same instant; the one that ended must not be kept in place of the other.
TEST(Compact, TellsRangesApartThatBeginTogether) {
  const TemporaryFolder folder;
  const std::string path = folder / "rank-0.lst";
  const OpenRange inner{.lane = 0, .begin = 100, .name = 2, .depth = 1};
  const OpenRange outer{.lane = 0, .begin = 100, .name = 1};
  {
    Writer writer = must(Writer::create(path.c_str()));
    writer.add_lane({});
    for (int i = 0; i < 20; ++i) {
      writer.append(inner);
      writer.append(outer);
      test::expect_ok(writer.flush());
    }
    writer.append(HostRange{.lane = 0, .begin = 100, .end = 200, .name = 2, .depth = 1});
    test::expect_ok(writer.close());
  }
  EXPECT_TRUE(must(compact(path.c_str())));
  const Reader reader = must(Reader::open(path));
  EXPECT_THAT(must(reader.unfinished_ranges()), testing::ElementsAre(outer));
  EXPECT_EQ(reader.count(EventKind::open_range), 1U);
}

TEST(Compact, LeavesACutFileAsItIs) {
  const TemporaryFolder folder;
  const std::string path = folder / "cut.lst";
  write_in_small_chunks(path, 500);
  std::vector<std::byte> bytes = test::read_file(path);
  bytes.resize(bytes.size() - 5);
  test::write_file(path, bytes);
  EXPECT_FALSE(must(compact(path.c_str())));
  EXPECT_TRUE(test::read_file(path) == bytes);
}

TEST(Compact, StopsWhereItTakesTooLong) {
  const TemporaryFolder folder;
  const std::string path = folder / "rank-3.lst";
  const std::size_t events = std::get<test::Events<HostRange>>(write_in_small_chunks(path, 60'000)).size();
  const std::string before = lockstep::test::read_whole_file(path);
  int asked = 0;
  EXPECT_FALSE(must(compact(path.c_str(), [&] { return ++asked > 0; }))) << "before the first event";
  EXPECT_EQ(asked, 1);
  asked = 0;
  EXPECT_FALSE(must(compact(path.c_str(), [&] { return ++asked > 3; }))) << "among the events";
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(lockstep::test::read_whole_file(path), before);
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(path).parent_path()))
    EXPECT_EQ(entry.path(), path);
  asked = 0;
  EXPECT_TRUE(must(compact(path.c_str(), [&] { return ++asked < 0; })));
  EXPECT_GT(asked, 11) << "once a kind of events, and among many";
  EXPECT_EQ(must(Reader::open(path)).count(EventKind::host_range), events);
}

TEST(Compact, LeavesNothingBesideTheFile) {
  const TemporaryFolder folder;
  write_in_small_chunks(folder / "a.lst", 500);
  EXPECT_TRUE(must(compact((folder / "a.lst").c_str())));
  EXPECT_FALSE(must(compact((folder / "a.lst").c_str()))) << "a compact file cannot become smaller";
  const std::filesystem::directory_iterator files(folder / "");
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST(Compact, KnowsACopyByItsName) {
  const std::optional<CopyName> copy = parse_copy_name("rank-0.lst.compact-4711");
  ASSERT_TRUE(copy.has_value());
  EXPECT_EQ(copy->file, "rank-0.lst");
  EXPECT_EQ(copy->process, 4711);
  for (const char* name :
       {"rank-0.lst", "rank-0.lst.compact-", "rank-0.lst.compact-x", "rank-0.lst.compact-0",
        "rank-0.lst.compact-7.bak", ".compact-7", "rank-0.lst.compact--7"})
    EXPECT_FALSE(parse_copy_name(name).has_value()) << name;
}

// One that an earlier process of our number left, or that somebody has put there: opening a named pipe waits.
TEST(Compact, WritesOverNothingThatHasTheCopysName) {
  const TemporaryFolder folder;
  const std::string path = folder / "rank-0.lst", copy = path + ".compact-" + std::to_string(getpid());
  write_in_small_chunks(path, 500);
  ASSERT_EQ(mkfifo(copy.c_str(), 0600), 0);
  EXPECT_TRUE(must(compact(path.c_str())));
  EXPECT_FALSE(std::filesystem::exists(copy));
  EXPECT_TRUE(must(Reader::open(path)).complete());
}

TEST(Compact, NamesAFileThatIsNotThere) {
  const Result<bool> result = compact("/nonexistent/rank-0.lst");
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, testing::HasSubstr("/nonexistent/rank-0.lst"));
}

// What a step of a training leaves behind, flushed after every step: a trace of a few steps a second.
TEST(Compact, TakesLittleRoomForATraining) {
  const TemporaryFolder folder;
  const std::string path = folder / "training.lst";
  std::uint64_t events = 0;
  {
    Writer writer = must(Writer::create(path.c_str()));
    TrainingTrace::describe(writer);
    const TrainingTrace trace = TrainingTrace::generate(20);
    trace.append_to(writer);
    test::expect_ok(writer.close());
    events = writer.events_appended();
  }
  must(compact(path.c_str()));
  EXPECT_LT(std::filesystem::file_size(path), events * 8);
}

}  // namespace
}  // namespace lockstep::trace

// The writer where things go wrong: files that exist, full disks, misuse, forks, many lanes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/test_support.h"

namespace lockstep::trace {
namespace {

using test::expect_ok;
using test::must;
using testing::HasSubstr;
using testing::IsEmpty;

std::string error_of(const Status& status) {
  return status.ok() ? "" : status.error().message;
}
std::string error_of(const Result<Writer>& writer) {
  return writer.ok() ? "" : writer.error().message;
}

// The descriptor of this process that is open on the file; -1 if none is.
int number_of(const std::string& path) {
  struct stat wanted {
  }, status{};
  if (stat(path.c_str(), &wanted) != 0) return -1;
  for (int number = 0; number < 2048; ++number)
    if (fstat(number, &status) == 0 && status.st_dev == wanted.st_dev && status.st_ino == wanted.st_ino)
      return number;
  return -1;
}

class WriterTest : public testing::Test {
 protected:
  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "a.lst";
};

TEST_F(WriterTest, ExistingFileIsRefused) {
  test::write_file(path_, std::as_bytes(std::span("precious")));
  EXPECT_EQ(error_of(Writer::create(path_.c_str())),
            "cannot create trace file '" + path_ + "': File exists: choose another path, or remove it first");
  EXPECT_EQ(test::read_file(path_).size(), sizeof "precious");
  WriterOptions options;
  options.exclusive = false;
  expect_ok(must(Writer::create(path_.c_str(), options)).close());
  EXPECT_TRUE(must(Reader::open(path_)).complete());
}

TEST_F(WriterTest, MissingFolderIsNamed) {
  const std::string path = folder_ / "no/such/folder.lst";
  EXPECT_EQ(error_of(Writer::create(path.c_str())),
            "cannot create trace file '" + path + "': No such file or directory: create its folder first");
}

TEST_F(WriterTest, FullDiskAtOnce) {
  WriterOptions options;
  options.exclusive = false;
  EXPECT_EQ(error_of(Writer::create("/dev/full", options)),
            "cannot write trace file '/dev/full': No space left on device: free some space, or record to "
            "another disk");
}

// As programs do that become daemons: they close all numbers, and use them for files of their own.
TEST_F(WriterTest, NothingGoesIntoAFileThatHasItsDescriptorsNumber) {
  const std::string own = folder_ / "own";
  const std::string moved = folder_ / "moved";
  int number = -1;
  const auto take_number = [&] {
    const int opened = open(own.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_EQ(dup2(opened, number), number);
    ::close(opened);
  };
  {
    Writer writer = must(Writer::create(path_.c_str()));
    expect_ok(writer.flush());
    number = number_of(path_);
    ASSERT_GE(number, 512) << "none that the program would get by opening files";
    take_number();
    for (int i = 0; i < 1000; ++i) writer.append(ClockSnapshot{i, i, i, 0});
    EXPECT_TRUE(writer.hold_file());
    expect_ok(writer.close());
  }
  EXPECT_THAT(test::read_file(own), IsEmpty());
  EXPECT_GE(fcntl(number, F_GETFD), 0) << "and it is not closed";
  EXPECT_EQ(must(Reader::open(path_)).count(EventKind::clock_snapshot), 1000U) << "opened again";
  ::close(number);
  // Where its path leads to it no more.
  std::filesystem::remove(path_);
  {
    Writer writer = must(Writer::create(path_.c_str()));
    expect_ok(writer.flush());
    const auto written = test::read_file(path_).size();
    number = number_of(path_);
    take_number();
    std::filesystem::rename(path_, moved);
    for (int i = 0; i < 1000; ++i) writer.append(ClockSnapshot{i, i, i, 0});
    EXPECT_FALSE(writer.hold_file());
    EXPECT_THAT(error_of(writer.flush()), HasSubstr("the program has closed its descriptor"));
    EXPECT_FALSE(writer.close().ok());
    EXPECT_EQ(test::read_file(moved).size(), written);
  }
  EXPECT_THAT(test::read_file(own), IsEmpty());
  EXPECT_GE(fcntl(number, F_GETFD), 0) << "and it is not closed";
  ::close(number);
}

TEST_F(WriterTest, AFileWithoutEventsIsComplete) {
  expect_ok(must(Writer::create(path_.c_str())).close());
  const Reader reader = must(Reader::open(path_));
  EXPECT_TRUE(reader.complete());
  EXPECT_THAT(reader.warnings(), IsEmpty());
  EXPECT_THAT(reader.chunks(), IsEmpty());
  expect_ok(reader.verify());
}

TEST_F(WriterTest, AReservedValueIsReplacedInPlaceAlsoWhereNothingMoreCanBeWritten) {
  Writer writer = must(Writer::create(path_.c_str()));
  EXPECT_THAT(error_of(writer.replace_reserved("too early")), HasSubstr("no room was reserved"));
  writer.reserve_metadata("note", 8);
  writer.add_lane({});
  writer.append(Step{.number = 1});
  expect_ok(writer.flush());
  EXPECT_EQ(must(Reader::open(path_)).metadata().at("note"), std::string(8, ' '));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = static_cast<rlim_t>(writer.bytes_written());
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  writer.append(Step{.number = 2});
  EXPECT_FALSE(writer.flush().ok());
  expect_ok(writer.replace_reserved("1 lost"));
  expect_ok(writer.replace_reserved("12345678 and what is cut"));
  EXPECT_FALSE(writer.close().ok());
  setrlimit(RLIMIT_FSIZE, &before);
  const Reader reader = must(Reader::open(path_));
  EXPECT_EQ(reader.metadata().at("note"), "12345678");
  EXPECT_EQ(reader.count(EventKind::step), 1U);
  expect_ok(reader.verify());
}

TEST_F(WriterTest, TheDestructorCloses) {
  {
    Writer writer = must(Writer::create(path_.c_str()));
    writer.add_lane({});
    writer.append(Step{.number = 1});
  }
  const Reader reader = must(Reader::open(path_));
  EXPECT_TRUE(reader.complete());
  EXPECT_EQ(reader.count(EventKind::step), 1U);
}

TEST_F(WriterTest, MovingLeavesAnEmptyWriterThatDoesNothing) {
  Writer first = must(Writer::create(path_.c_str()));
  first.add_lane({});
  Writer second = std::move(first);
  first.append(Step{});  // NOLINT(bugprone-use-after-move): what this test is about
  EXPECT_EQ(first.intern("x"), 0U);
  EXPECT_EQ(first.events_appended(), 0U);
  expect_ok(first.close());
  second.append(Step{});
  expect_ok(second.close());
  EXPECT_EQ(must(Reader::open(path_)).count(EventKind::step), 1U);
}

TEST_F(WriterTest, WhatComesAfterCloseIsLostAndCounted) {
  Writer writer = must(Writer::create(path_.c_str()));
  writer.add_lane({});
  writer.append(Step{});
  expect_ok(writer.close());
  const std::uint64_t size = writer.bytes_written();
  EXPECT_EQ(size, std::filesystem::file_size(path_));
  writer.append(Step{});
  writer.append(Mark{});
  expect_ok(writer.flush());
  expect_ok(writer.close());
  EXPECT_EQ(writer.events_appended(), 3U);
  EXPECT_EQ(writer.events_lost(), 2U);
  EXPECT_EQ(std::filesystem::file_size(path_), size);
}

TEST_F(WriterTest, AnEventOnNoLaneIsRefusedAndTheRestIsKept) {
  Writer writer = must(Writer::create(path_.c_str()));
  writer.append(Step{.lane = 0});
  writer.add_lane({});
  writer.append(Step{.lane = 1});
  writer.append(Step{.lane = 0});
  EXPECT_EQ(writer.events_lost(), 2U);
  EXPECT_EQ(error_of(writer.close()),
            "trace file '" + path_ + "': a step on lane 0, which add_lane() never returned, was not kept");
  const Reader reader = must(Reader::open(path_));
  EXPECT_TRUE(reader.complete());
  EXPECT_EQ(reader.count(EventKind::step), 1U);
}

TEST_F(WriterTest, AForkedChildAbandonsWhatItInherited) {
  Writer writer = must(Writer::create(path_.c_str()));
  writer.add_lane({});
  writer.append(Step{.number = 1});
  const pid_t child = fork();
  if (child == 0) {
    writer.abandon();
    writer.append(Step{.number = 2});
    const bool right = writer.flush().ok() && writer.close().ok() && writer.events_lost() == 2;
    _exit(right ? 0 : 1);
  }
  int outcome = 0;
  ASSERT_EQ(waitpid(child, &outcome, 0), child);
  EXPECT_EQ(outcome, 0);
  writer.append(Step{.number = 3});
  expect_ok(writer.close());
  EXPECT_EQ(writer.events_lost(), 0U);
  std::vector<Step> steps;
  expect_ok(must(Reader::open(path_)).read(Selection{}, steps));
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[1].number, 3);
}

// What was flushed survives the death of the process.
TEST_F(WriterTest, AKilledProcessLeavesWhatItFlushed) {
  const pid_t child = fork();
  if (child == 0) {
    Writer writer = must(Writer::create(path_.c_str()));
    writer.add_lane({});
    writer.append(Step{.number = 1});
    if (!writer.flush().ok()) _exit(1);
    writer.append(Step{.number = 2});
    raise(SIGKILL);
  }
  int outcome = 0;
  ASSERT_EQ(waitpid(child, &outcome, 0), child);
  ASSERT_TRUE(WIFSIGNALED(outcome));
  const Reader reader = must(Reader::open(path_));
  EXPECT_FALSE(reader.complete());
  std::vector<Step> steps;
  expect_ok(reader.read(Selection{}, steps));
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].number, 1);
}

// Runs out of room in the middle: what is in the file is readable, what is not is counted, and no signal is
// raised.
class FileSizeLimit : public WriterTest, public testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before_), 0);
    // Were SIGXFSZ raised, it would end this process.
    signal(SIGXFSZ, SIG_DFL);
  }
  void TearDown() override { setrlimit(RLIMIT_FSIZE, &before_); }
  rlimit before_{};
};

TEST_P(FileSizeLimit, IsAStatusNotASignal) {
  Writer writer = must(Writer::create(path_.c_str()));
  for (int lane = 0; lane < 2; ++lane) writer.add_lane({});
  writer.add_group({});
  rlimit limit = before_;
  limit.rlim_cur = static_cast<rlim_t>(GetParam());
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  test::RandomEvents random(5);
  test::Record record;
  Status status;
  for (int i = 0; i < 20'000; ++i) {
    test::append_random(random, 2, 1, writer, record);
    if (i % 1000 == 0 && status.ok()) status = writer.flush();
  }
  EXPECT_THAT(error_of(status), HasSubstr("cannot write trace file '" + path_ +
                                          "': File too large: raise the file size limit (ulimit -f)"));
  EXPECT_EQ(error_of(writer.close()), error_of(status));
  setrlimit(RLIMIT_FSIZE, &before_);
  EXPECT_EQ(writer.events_appended(), 20'000U);
  EXPECT_EQ(writer.bytes_written(), static_cast<std::uint64_t>(GetParam()));
  EXPECT_EQ(std::filesystem::file_size(path_), static_cast<std::uintmax_t>(GetParam()));

  const Reader reader = must(Reader::open(path_));
  EXPECT_FALSE(reader.complete());
  Status read_status;
  const test::Record read = test::read_everything(reader, read_status);
  expect_ok(read_status);
  std::uint64_t kept = 0;
  test::for_each_kind([&]<class E>(const E&) {
    for (LaneId lane = 0; lane < 2; ++lane) {
      const auto got = test::of_lane(std::get<test::Events<E>>(read), lane);
      auto wanted = test::of_lane(std::get<test::Events<E>>(record), lane);
      ASSERT_LE(got.size(), wanted.size());
      wanted.resize(got.size());
      EXPECT_TRUE(got == wanted);
      if (format::Schema<E>::kHasLane || lane == 0) kept += got.size();
    }
  });
  EXPECT_EQ(kept + writer.events_lost(), 20'000U);
}

INSTANTIATE_TEST_SUITE_P(Bytes, FileSizeLimit, testing::Values(33, 100, 5000, 77'777, 200'000));

// Thousands of lanes must not mean thousands of large buffers.
TEST_F(WriterTest, ManyLanesStayWithinTheMemoryLimit) {
  constexpr std::uint32_t kLanes = 5000;
  WriterOptions options;
  options.memory_limit = 4U << 20;
  Writer writer = must(Writer::create(path_.c_str(), options));
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) writer.add_lane({});
  for (int i = 0; i < 100; ++i) {
    for (LaneId lane = 0; lane < kLanes; ++lane) {
      writer.append(DeviceActivity{.lane = lane, .begin = i, .end = i + 1, .correlation = lane});
    }
  }
  // 500,000 events of 40 bytes do not fit into the limit, so most have been written although no block is
  // full.
  EXPECT_GT(writer.bytes_written(), 1'000'000U);
  expect_ok(writer.close());
  EXPECT_EQ(writer.events_lost(), 0U);
  const Reader reader = must(Reader::open(path_));
  EXPECT_EQ(reader.count(EventKind::device_activity), 100U * kLanes);
  for (const LaneId lane : {LaneId{0}, LaneId{2500}, kLanes - 1}) {
    std::vector<DeviceActivity> events;
    expect_ok(reader.read(Selection{lane}, events));
    ASSERT_EQ(events.size(), 100U);
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(events[static_cast<std::size_t>(i)].begin, i);
      EXPECT_EQ(events[static_cast<std::size_t>(i)].correlation, lane);
    }
  }
}

TEST_F(WriterTest, ManyStringsAreWrittenBeforeTheyPileUp) {
  Writer writer = must(Writer::create(path_.c_str()));
  const std::string padding(1000, 'p');
  std::vector<StringId> ids;
  ids.reserve(20'000);
  for (int i = 0; i < 20'000; ++i) ids.push_back(writer.intern(std::to_string(i) + padding));
  expect_ok(writer.close());
  const Reader reader = must(Reader::open(path_));
  for (int i = 0; i < 20'000; ++i)
    ASSERT_EQ(reader.string(ids[static_cast<std::size_t>(i)]), std::to_string(i) + padding);
}

// What is written after it stands where it would: what was cut off is a hole, and told.
TEST(Writer, SaysThatSomebodyCutTheFile) {
  for (const std::uintmax_t left : {0, 40, 400}) {
    test::TemporaryFolder folder;
    const std::string path = folder / "cut.lst";
    Writer writer = test::must(Writer::create(path.c_str()));
    writer.set_metadata("rank", "3");
    const LaneId lane = writer.add_lane({.name = "main"});
    for (int i = 0; i < 100; ++i)
      writer.append(HostRange{.lane = lane, .begin = i * i * i, .end = i * i * i + i});
    test::expect_ok(writer.flush());
    ASSERT_GT(std::filesystem::file_size(path), 400U);
    std::filesystem::resize_file(path, left);
    for (int i = 100; i < 200; ++i)
      writer.append(HostRange{.lane = lane, .begin = i * i * i, .end = i * i * i + i});
    test::expect_ok(writer.close());
    const Reader reader = test::must(Reader::open(path));
    EXPECT_EQ(reader.metadata().at(kCutFromOutside), std::to_string(left));
    EXPECT_EQ(reader.metadata().at("rank"), "3");
    ASSERT_EQ(reader.lanes().size(), 1U);
    EXPECT_EQ(reader.lanes()[0].name, "main");
    std::vector<HostRange> ranges;
    EXPECT_FALSE(reader.read(Selection{}, ranges).ok());
    ASSERT_EQ(ranges.size(), 100U);
    EXPECT_EQ(ranges.front().begin, 100 * 100 * 100);
  }
}

}  // namespace
}  // namespace lockstep::trace

// Ranges that the hook tells of when they begin: a compilation in which the process is killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/reader.h"
#include "tracer/inject/sources/pytorch/pytorch_source.h"
#include "tracer/inject/sources/pytorch/records.h"

namespace lockstep::tracer::pytorch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint32_t kThread = 1000;

struct Written {
  std::vector<trace::HostRange> ended;
  std::vector<trace::OpenRange> unfinished;
  std::vector<std::string> names;  // of the unfinished ones
};

// What `fill` hands to a source, as it is read back from the file.
Written written(const std::function<void(PytorchSource&)>& fill) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("lockstep-long-ranges-" + std::to_string(getpid()) + ".lst");
  std::filesystem::remove(path);
  {
    Result<trace::Writer> writer = trace::Writer::create(path.c_str());
    EXPECT_TRUE(writer.ok());
    ClockConverter clock;
    ProcessInfo process;
    process.process = static_cast<pid_t>(kThread);
    HostLanes lanes(writer.value(), kThread);
    SourceContext context{writer.value(), clock, process, lanes};
    PytorchSource source;
    source.begin(context);
    fill(source);
    EXPECT_TRUE(writer.value().close().ok());
  }
  Written written;
  const Result<trace::Reader> reader = trace::Reader::open(path);
  EXPECT_TRUE(reader.ok());
  EXPECT_TRUE(reader.value().read(trace::Selection{}, written.ended).ok());
  Result<std::vector<trace::OpenRange>> unfinished = reader.value().unfinished_ranges();
  EXPECT_TRUE(unfinished.ok());
  written.unfinished = unfinished.value();
  for (const trace::OpenRange& range : written.unfinished)
    written.names.emplace_back(reader.value().string(range.name));
  std::filesystem::remove(path);
  return written;
}

template <typename Record>
void hand(PytorchSource& source, RecordType type, trace::Nanoseconds time, const Record& record,
          std::string_view name = {}, std::uint32_t thread = kThread) {
  std::string body(reinterpret_cast<const char*>(&record), sizeof record);
  body += name;
  source.consume(thread, static_cast<std::uint8_t>(type), reinterpret_cast<const std::byte*>(body.data()),
                 static_cast<std::uint32_t>(body.size()), time);
}

// What is recorded before the drain before is whole.
void drain(PytorchSource& source, trace::Nanoseconds now) {
  source.end_drain(now);
  source.end_drain(now + 1);
}

constexpr std::string_view kCompilation = "compilation: torch.compile";

TEST(LongRanges, OneInWhichTheProcessIsKilledIsLeftOpen) {
  const Written file = written([](PytorchSource& source) {
    hand(source, RecordType::long_begin, 11, PastRangeRecord{10, 10}, kCompilation);
    drain(source, 500);
    drain(source, 900);
  });
  EXPECT_THAT(file.ended, IsEmpty());
  EXPECT_THAT(file.names, ElementsAre(kCompilation));
  EXPECT_EQ(file.unfinished.at(0).begin, 10);
}

TEST(LongRanges, OneThatEndsIsARangeHoweverLongItWas) {
  const Written file = written([](PytorchSource& source) {
    hand(source, RecordType::long_begin, 11, PastRangeRecord{10, 10}, kCompilation);
    drain(source, 500);
    hand(source, RecordType::long_end, 801, PastRangeRecord{10, 800});
    hand(source, RecordType::long_begin, 811, PastRangeRecord{810, 810}, "checkpoint: torch.save");
    hand(source, RecordType::long_end, 831, PastRangeRecord{810, 830});
    drain(source, 900);
    source.finish(901);
  });
  EXPECT_THAT(file.unfinished, IsEmpty());
  ASSERT_EQ(file.ended.size(), 2U);
  EXPECT_EQ(file.ended[0].begin, 10);
  EXPECT_EQ(file.ended[0].end, 800);
  EXPECT_EQ(file.ended[1].begin, 810);
  EXPECT_EQ(file.ended[1].end, 830);
}

TEST(LongRanges, OneThatIsTooShortIsLeftOut) {
  const Written file = written([](PytorchSource& source) {
    hand(source, RecordType::long_begin, 11, PastRangeRecord{10, 10}, kCompilation);
    hand(source, RecordType::long_end, 12, PastRangeRecord{10, 10});
    drain(source, 500);
    // Noted as open meanwhile: then it has to end.
    hand(source, RecordType::long_begin, 511, PastRangeRecord{510, 510}, kCompilation);
    drain(source, 520);
    hand(source, RecordType::long_end, 530, PastRangeRecord{510, 510});
    drain(source, 900);
  });
  EXPECT_THAT(file.unfinished, IsEmpty());
  ASSERT_EQ(file.ended.size(), 1U);
  EXPECT_EQ(file.ended[0].begin, 510);
  EXPECT_EQ(file.ended[0].end, 510);
}

// The last of several threads that compile at once ends it.
TEST(LongRanges, OneMayEndOnAnotherThread) {
  const Written file = written([](PytorchSource& source) {
    hand(source, RecordType::long_begin, 11, PastRangeRecord{10, 10}, kCompilation);
    drain(source, 500);
    hand(source, RecordType::long_end, 801, PastRangeRecord{10, 800}, {}, kThread + 1);
    drain(source, 900);
  });
  EXPECT_THAT(file.unfinished, IsEmpty());
  ASSERT_EQ(file.ended.size(), 1U);
  EXPECT_EQ(file.ended[0].end, 800);
}

// They may overlap what PyTorch names: neither moves the other's depth.
TEST(LongRanges, LeaveTheDepthsOfOthersAlone) {
  const Written file = written([](PytorchSource& source) {
    hand(source, RecordType::long_begin, 11, PastRangeRecord{10, 10}, kCompilation);
    hand(source, RecordType::range_begin, 20, RangeRecord{7, 0}, "mine");
    hand(source, RecordType::range_end, 40, RangeRecord{7, 0});
    hand(source, RecordType::long_end, 50, PastRangeRecord{10, 49});
    drain(source, 900);
  });
  ASSERT_EQ(file.ended.size(), 2U);
  for (const trace::HostRange& range : file.ended) {
    EXPECT_EQ(range.depth, 0);
    EXPECT_EQ(range.nested, range.begin == 20);
  }
}

}  // namespace
}  // namespace lockstep::tracer::pytorch

// What a file's end tells: operations that never ended, and where a rank stood.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/import/run/run.h"
#include "analyzer/import/test_files.h"
#include "trace/writer.h"

namespace lockstep::analyzer::run {
namespace {

constexpr std::int64_t kZero = 1'700'000'000'000'000'000;  // time 0 of the files, ns since 1970
constexpr Nanoseconds kSecond = 1'000'000'000;

// Two all-reduces: one of a microsecond, and one from 1 s to 21 s.
std::string write_file(const TemporaryFolder& folder, const char* hang_noted = nullptr) {
  trace::Writer writer = must(trace::Writer::create((folder / "rank-1.lst").c_str()));
  writer.set_metadata("rank", "1");
  if (hang_noted != nullptr) writer.set_metadata("hang", hang_noted);
  trace::Collective collective;
  collective.lane = writer.add_lane({trace::LaneKind::communication, 7, 2, 0, ""});
  collective.group = writer.add_group({"world", "", {0, 1}});
  collective.name = writer.intern("all_reduce");
  collective.operation = Operation::all_reduce;
  writer.append(trace::ClockSnapshot{0, kZero, kUnknownTime, 0});
  collective.begin = 0;
  collective.end = 1000;
  collective.sequence = 5;
  writer.append(collective);
  collective.begin = kSecond;
  collective.end = 21 * kSecond;
  collective.sequence = 6;
  writer.append(collective);
  EXPECT_TRUE(writer.close().ok());
  return folder / "rank-1.lst";
}

TEST(EndOfFile, WhatOnlyAnInterruptionClosedNeverEnded) {
  const TemporaryFolder folder;
  const std::string path = write_file(folder);
  EXPECT_EQ(must(import_file(path)).trace.communications.size(), 2U);
  Options options;
  options.interrupted_at = kZero + 20 * kSecond + 900'000'000;
  const RankTrace trace = must(import_file(path, options)).trace;
  EXPECT_EQ(trace.ending.interrupted, 20 * kSecond + 900'000'000);
  EXPECT_EQ(trace.communications.size(), 1U);
  EXPECT_EQ(trace.activities.size(), 1U);
  ASSERT_EQ(trace.ending.operations.size(), 1U);
  EXPECT_EQ(trace.ending.operations[0].begin, kSecond);
  EXPECT_EQ(trace.ending.operations[0].group, 0U);
  EXPECT_EQ(trace.ending.operations[0].operation, Operation::all_reduce);
  EXPECT_EQ(trace.ending.operations[0].sequence, 6);
}

TEST(EndOfFile, WhereItStoodInASilenceThatIsOverIsNotWhereItStands) {
  const TemporaryFolder folder, later;
  for (const TemporaryFolder* each : {&folder, &later})
    each->write("hang-rank-1.json", R"({"doing": "line 7 in save"})");
  EXPECT_EQ(must(import_file(write_file(folder, "15000000000 1000"))).trace.ending.doing, "line 7 in save");
  EXPECT_EQ(must(import_file(write_file(later, "500000000 1000"))).trace.ending.doing, "")
      << "it began another operation after that";
}

TEST(EndOfFile, WhereItStoodThatCannotBeReadIsAWarning) {
  const TemporaryFolder folder;
  const std::string trace = write_file(folder, "15000000000 1000");
  EXPECT_EQ(find_warning(must(import_file(trace)).warnings, "hang_notes_damaged"), nullptr)
      << "nothing was noted";
  folder.write("hang-rank-1.json", R"({"doing": "line 7 in)");
  const RankImport import = must(import_file(trace));
  EXPECT_EQ(import.trace.ending.doing, "");
  const Warning* const warning = find_warning(import.warnings, "hang_notes_damaged");
  ASSERT_NE(warning, nullptr);
  EXPECT_THAT(warning->message, testing::HasSubstr("hang-rank-1.json: no JSON object"));
}

}  // namespace
}  // namespace lockstep::analyzer::run

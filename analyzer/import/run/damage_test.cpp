// Files of recorded ranks that lack something: what was dropped, lost, cut or flipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "analyzer/import/rank/merge.h"
#include "analyzer/import/run/recorded_rank.h"
#include "analyzer/import/run/run.h"
#include "analyzer/model/check_job.h"
#include "analyzer/model/survivor.h"

namespace lockstep::analyzer::run {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using trace::Writer;

TEST(RunFile, PassesOnWhatWasLost) {
  const TemporaryFolder folder;
  const RankImport import = must(import_file(write_file(
      folder, "rank-1.lst",
      [](Writer& writer) {
        write_rank(writer);
        writer.append(trace::Drop{1, 2, 40, writer.intern("nvtx"), writer.intern("ring full")});
        writer.append(trace::Drop{3, 4, 2, writer.intern("nvtx"), writer.intern("ring full")});
        writer.append(trace::OpenRange{0, 1950, writer.intern("stuck"), 0, 0, 0, 1, true});
        writer.append(trace::DeviceActivity{1, 500, 400, writer.intern("backwards"),
                                            trace::ActivityClass::compute, 0, 0});
      },
      false)));
  EXPECT_EQ(import.trace.dropped_events, 43u);
  EXPECT_THAT(find_warning(import.warnings, "events_dropped")->message,
              HasSubstr("42 events were dropped while recording: nvtx: ring full (42)"));
  EXPECT_THAT(find_warning(import.warnings, "ranges_unfinished")->message,
              HasSubstr("1 range was still open when recording ended (the first: \"stuck\")"));
  EXPECT_TRUE(find_warning(import.warnings, "file_incomplete") != nullptr ||
              find_warning(import.warnings, "file_damaged") != nullptr);
  EXPECT_EQ(import.trace.activities.size(), 3u);
  for (const Warning& warning : import.warnings) EXPECT_EQ(warning.rank, 1);
}

// Findings of a job that failed tell by it that nothing is missing.
TEST(RunFile, WhatASurvivorWroteIsToldFromAFileThatLacksItsEnd) {
  const auto message = [](void (*fill)(Writer&)) {
    const TemporaryFolder folder;
    const RankImport import = must(import_file(write_file(folder, "rank-1.lst", fill, false)));
    const Warning* const warning = find_warning(import.warnings, "file_incomplete");
    return warning == nullptr ? std::string() : warning->message;
  };
  EXPECT_THAT(message([](Writer& writer) {
                writer.set_metadata(trace::kWrittenAfterDeath, "yes");
                write_rank(writer);
              }),
              HasSubstr(std::string(kSurvivorWrote)));
  EXPECT_THAT(message(write_rank), testing::Not(HasSubstr(std::string(kSurvivorWrote))));
}

TEST(RunFile, WhatTheGpuDidInAGapIsNotKnown) {
  const TemporaryFolder folder;
  const RankImport import = must(import_file(write_file(folder, "rank-1.lst", [](Writer& writer) {
    write_rank(writer);
    writer.append(
        trace::Drop{5000, 6000, 0, writer.intern("cupti"), writer.intern("another tool had CUPTI")});
    writer.append(
        trace::Drop{1200, 1300, 0, writer.intern("cupti"), writer.intern("another tool had CUPTI")});
    writer.append(trace::Drop{9000, 8000, 0, writer.intern("cupti"), writer.intern("nonsense")});
  })));
  EXPECT_EQ(import.trace.dropped_events, 0u);
  ASSERT_EQ(import.trace.lost.size(), 2u);
  EXPECT_EQ(import.trace.lost[0].begin, 1200);
  EXPECT_EQ(import.trace.lost[1].end, 6000);
  EXPECT_TRUE(import.trace.was_lost_within(1250, 1260));
  EXPECT_FALSE(import.trace.was_lost_within(1400, 1500));
  EXPECT_THAT(find_warning(import.warnings, "recording_gap")->message,
              HasSubstr("not recorded all the time: cupti: another tool had CUPTI (2 times, 0.000 s)"));
}

// It is not a rank that did nothing: what it did is not known.
TEST(RunFile, WhatARankDidIsNotKnownWhereItsFileHoldsNothing) {
  const TemporaryFolder folder;
  const std::string path = write_file(folder, "whole.lst", write_rank);
  std::ifstream in(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (const std::size_t left : {32U, 33U, 90U}) {
    const RankImport import = must(import_file(folder.write("rank-1.lst", whole.substr(0, left))));
    EXPECT_NE(find_warning(import.warnings, "file_damaged"), nullptr) << left;
    EXPECT_TRUE(import.trace.was_lost_within(1100, 1400)) << left;
  }
  const std::string unclosed = write_file(folder, "unclosed.lst", write_rank, false);
  EXPECT_FALSE(must(import_file(unclosed)).trace.was_lost_within(1100, 1400))
      << "killed later: its events are there";
}

// Whatever the damage: an error that names the file, or a rank that keeps the promises of job.h.
TEST(RunFile, CutAnywhereAndFlippedAnywhere) {
  const TemporaryFolder folder;
  const std::string path = write_file(folder, "rank-1.lst", write_rank);
  std::ifstream in(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  int readable = 0;
  const auto check = [&](const std::string& bytes) {
    const std::string damaged = folder.write("damaged.lst", bytes);
    Result<RankImport> import = import_file(damaged, {.keep_host_ranges = true});
    if (!import.ok()) {
      ASSERT_THAT(import.error().message, HasSubstr(damaged));
      return;
    }
    ++readable;
    if (bytes.size() < whole.size()) {
      ASSERT_THAT(import.value().warnings, testing::Not(IsEmpty()));
    }
    std::vector<RankImport> imports;
    imports.push_back(std::move(import).value());
    const Result<Job> job = merge_ranks(damaged, std::move(imports), {}, 0);
    ASSERT_TRUE(job.ok());
    ASSERT_TRUE(check_job(job.value()).ok()) << check_job(job.value()).error().message;
  };
  for (std::size_t cut = 0; cut < whole.size(); ++cut) check(whole.substr(0, cut));
  for (std::size_t at = 0; at < whole.size(); at += 3) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    check(flipped);
  }
  EXPECT_GT(readable, 100);
}

}  // namespace
}  // namespace lockstep::analyzer::run

// Room that ends at every byte of the manifest and the traces, and a disk of every number of pages: the job
// runs, what is lost is said, and what is left can be read.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <string_view>

#include "tests/end_to_end/mount.h"
#include "tests/end_to_end/recorded_run.h"
#include "tests/sanitizers.h"
#include "tests/torture/trials.h"
#include "trace/reader.h"

namespace lockstep::torture {
namespace {

namespace fs = std::filesystem;
using end_to_end::Outcome;
using nlohmann::json;

constexpr int kFew = 16;
constexpr std::int64_t kPage = 4096;
// For what is there only while a run is recorded: the recorder reserves 64 KiB for its manifest.
constexpr std::int64_t kPagesMeanwhile = 32;

// Of these an analysis has one where a rank is not there, or not whole.
constexpr std::array<std::string_view, 8> kLossCodes{
    "file_damaged",         "file_incomplete", "file_unreadable",  "rank_missing",
    "processes_unrecorded", "events_dropped",  "manifest_missing", "manifest_damaged"};

std::uint64_t ranges_in(const fs::path& path) {
  const Result<trace::Reader> reader = trace::Reader::open(path);
  return reader.ok() && reader.value().complete() ? reader.value().count(trace::EventKind::host_range) : 0;
}

// A manifest of a run that left nothing has no ranks.
bool is_whole(const std::string& run) {
  const json manifest = json::parse(test::read_whole_file(run + "/manifest.json"), nullptr, false);
  return manifest.is_object() && manifest.contains("ranks") && manifest.contains("missing_ranks") &&
         end_to_end::has_both_ranks_whole(run);
}

class Room : public testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer does not start where files may not be written";
    const std::string rank =
        "RANK={0} WORLD_SIZE=2 LOCAL_RANK={0} " + end_to_end::program("nvtx_behaviours") + " leave 0";
    std::ofstream(folder_ / "job.sh")
        << fmt::format(fmt::runtime(rank), 0) << " & " << fmt::format(fmt::runtime(rank), 1)
        << " & wait; echo out; echo err >&2; exit 5\n";
  }

  // Into the run folder `run`; no file may grow beyond `bytes`; -1: as large as it likes.
  Outcome record(const std::string& run, std::int64_t bytes = -1) {
    fs::remove_all(run);
    // Through a pipe: in a file the job's own output would end there too.
    return end_to_end::run(
        {"/bin/bash", "-c",
         fmt::format("{} {} record -o {} -- /bin/sh {} 2>&1 | cat; exit ${{PIPESTATUS[0]}}",
                     bytes < 0 ? "" : fmt::format("prlimit --fsize={}", bytes),
                     end_to_end::binary("lockstep"), run, folder_ / "job.sh")});
  }

  // What a recording comes to that has all the room it wants.
  struct Size {
    std::int64_t largest_file = 0;
    std::int64_t pages = 0;
  };
  void measure() {
    const std::string run = folder_ / "whole";
    ASSERT_EQ(record(run).exit_code, 5);
    ASSERT_TRUE(is_whole(run));
    ranges_ = ranges_in(fs::path(run) / "rank-0.lst");
    ASSERT_GT(ranges_, 0U);
    for (const auto& entry : fs::recursive_directory_iterator(run)) {
      if (!entry.is_regular_file()) continue;
      const auto bytes = static_cast<std::int64_t>(entry.file_size());
      size_.largest_file = std::max(size_.largest_file, bytes);
      size_.pages += (bytes + kPage - 1) / kPage;
    }
    ASSERT_GT(size_.largest_file, 500);
  }

  // True if the run is whole.
  bool expect_honest(const Outcome& outcome, const std::string& run) {
    EXPECT_EQ(outcome.exit_code, 5) << outcome.standard_output;
    EXPECT_EQ(end_to_end::of_the_job(outcome.standard_output), "out\nerr\n");
    const bool whole = is_whole(run);
    static const std::regex says_so(
        "unrecorded|failed|cannot|could not|lost|missing|not whole|nothing was recorded|not closed");
    EXPECT_TRUE(whole || std::regex_search(outcome.standard_output, says_so)) << outcome.standard_output;
    const fs::path manifest = fs::path(run) / "manifest.json";
    if (fs::exists(manifest) && !json::parse(test::read_whole_file(manifest), nullptr, false).is_object()) {
      EXPECT_THAT(outcome.standard_output, testing::HasSubstr("manifest"));
    }
    expect_readable(run);
    return whole;
  }

  // What is left in the folder.
  void expect_readable(const std::string& run) {
    int files = 0;
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(run, absent)) {
      if (entry.path().extension() != ".lst") continue;
      ++files;
      const Result<trace::Reader> reader = trace::Reader::open(entry.path());
      EXPECT_TRUE(reader.ok()) << entry.path() << ": " << reader.error().message;
    }
    const Outcome analysis = end_to_end::run({end_to_end::binary("lockstep"), "analyze", run, "--json", "-"});
    // Of a folder without any trace, or no folder, there is nothing to say but that.
    EXPECT_EQ(analysis.exit_code, files > 0 ? 0 : 1)
        << "signal " << analysis.signal << ": " << analysis.standard_error;
    if (analysis.exit_code != 0) {
      EXPECT_THAT(analysis.standard_error, testing::HasSubstr(run));
      return;
    }
    const json report = json::parse(analysis.standard_output, nullptr, false);
    ASSERT_TRUE(report.is_object());
    const bool ranks_are_whole = ranges_in(fs::path(run) / "rank-0.lst") == ranges_ &&
                                 ranges_in(fs::path(run) / "rank-1.lst") == ranges_;
    EXPECT_TRUE(ranks_are_whole || std::any_of(report["warnings"].begin(), report["warnings"].end(),
                                               [](const json& warning) {
                                                 const auto code = warning["code"].get<std::string>();
                                                 return std::find(kLossCodes.begin(), kLossCodes.end(),
                                                                  code) != kLossCodes.end();
                                               }))
        << report["warnings"];
  }

  end_to_end::TemporaryFolder folder_;
  Size size_;
  std::uint64_t ranges_ = 0;  // of a rank
};

// "60 trials; 3 were whole": how dense they lay as well.
void report_room(const std::string& campaign, std::int64_t count, std::int64_t all, const char* unit,
                 std::int64_t whole) {
  report(campaign, static_cast<int>(count),
         fmt::format("{} {}; {} were whole", count == all ? "every" : "not every", unit, whole));
}

TEST_F(Room, ThatEndsAnywhereCostsTheJobNothing) {
  ASSERT_NO_FATAL_FAILURE(measure());
  const std::string run = folder_ / "run";
  const std::int64_t all = size_.largest_file + 1;
  const std::int64_t count = std::min<std::int64_t>(trials(kFew), all);
  std::int64_t whole = 0;
  for (std::int64_t trial = 0; trial < count; ++trial) {
    const std::int64_t bytes = trial * size_.largest_file / std::max<std::int64_t>(count - 1, 1);
    SCOPED_TRACE(fmt::format("{} of {} bytes", bytes, size_.largest_file));
    if (expect_honest(record(run, bytes), run)) ++whole;
  }
  report_room("files that end at any byte", count, all, "byte", whole);
}

TEST_F(Room, OnADiskOfAnySizeCostsTheJobNothing) {
  ASSERT_NO_FATAL_FAILURE(measure());
  // Files that are written anew stand there twice for a moment.
  const std::int64_t enough = 2 * size_.pages + kPagesMeanwhile;
  const std::int64_t count = std::min<std::int64_t>(trials(kFew), enough + 1);
  std::int64_t whole = 0;
  for (std::int64_t trial = 0; trial < count; ++trial) {
    const std::int64_t pages = trial * enough / std::max<std::int64_t>(count - 1, 1);
    SCOPED_TRACE(fmt::format("{} of {} pages", pages, enough));
    // A size of 0 would mean no limit: one page more, which a file of ours takes.
    const std::string disk_path = folder_ / "disk";
    const end_to_end::Mount disk(disk_path, 0, fmt::format("size={}", (pages + 1) * kPage).c_str());
    if (!disk.mounted()) GTEST_SKIP() << "mounting a small file system is not allowed here";
    std::ofstream(disk_path + "/filler") << std::string(static_cast<std::size_t>(kPage), '.');
    ASSERT_EQ(fs::file_size(disk_path + "/filler"), static_cast<std::uintmax_t>(kPage));
    const std::string run = disk_path + "/run";
    const bool all_is_there = expect_honest(record(run), run);
    EXPECT_TRUE(all_is_there || pages < enough);
    if (all_is_there) ++whole;
  }
  report_room("disks of any size", count, enough + 1, "page", whole);
}

}  // namespace
}  // namespace lockstep::torture

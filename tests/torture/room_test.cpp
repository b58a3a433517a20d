// Room that ends at every byte of the manifest and the traces: the job runs, and what is lost is said.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>

#include "tests/end_to_end/recorded_run.h"
#include "tests/torture/trials.h"

namespace lockstep::torture {
namespace {

using end_to_end::Outcome;

constexpr int kFew = 16;

class Room : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer does not start where files may not be written";
#endif
    const std::string rank =
        "RANK={0} WORLD_SIZE=2 LOCAL_RANK={0} " + end_to_end::program("nvtx_behaviours") + " leave 0";
    std::ofstream(folder_ / "job.sh")
        << fmt::format(fmt::runtime(rank), 0) << " & " << fmt::format(fmt::runtime(rank), 1)
        << " & wait; echo out; echo err >&2; exit 5\n";
  }

  // No file may grow beyond `bytes`; -1: as large as it likes.
  Outcome record(std::int64_t bytes) {
    std::filesystem::remove_all(folder_ / "run");
    // Through a pipe: in a file the job's own output would end there too.
    return end_to_end::run(
        {"/bin/bash", "-c",
         fmt::format("{} {} record -o {} -- /bin/sh {} 2>&1 | cat; exit ${{PIPESTATUS[0]}}",
                     bytes < 0 ? "" : fmt::format("prlimit --fsize={}", bytes),
                     end_to_end::binary("lockstep"), folder_ / "run", folder_ / "job.sh")});
  }

  bool is_whole() const {
    return end_to_end::has_both_ranks_whole(folder_ / "run");
  }

  std::int64_t largest_file() const {
    std::int64_t largest = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "run"))
      if (entry.is_regular_file()) largest = std::max(largest, static_cast<std::int64_t>(entry.file_size()));
    return largest;
  }

  end_to_end::TemporaryFolder folder_;
};

TEST_F(Room, ThatEndsAnywhereCostsTheJobNothing) {
  ASSERT_EQ(record(-1).exit_code, 5);
  ASSERT_TRUE(is_whole());
  const std::int64_t largest = largest_file();
  ASSERT_GT(largest, 500);
  const std::regex says_so(
      "unrecorded|failed|cannot|could not|lost|missing|not whole|nothing was recorded|not closed");
  const std::int64_t count = std::min<std::int64_t>(trials(kFew), largest + 1);
  std::int64_t whole = 0;
  for (std::int64_t trial = 0; trial < count; ++trial) {
    const std::int64_t bytes = trial * largest / std::max<std::int64_t>(count - 1, 1);
    SCOPED_TRACE(fmt::format("{} of {} bytes", bytes, largest));
    const Outcome outcome = record(bytes);
    EXPECT_EQ(outcome.exit_code, 5) << outcome.standard_output;
    EXPECT_EQ(end_to_end::of_the_job(outcome.standard_output), "out\nerr\n");
    if (is_whole()) {
      ++whole;
    } else {
      EXPECT_TRUE(std::regex_search(outcome.standard_output, says_so)) << outcome.standard_output;
    }
  }
  report("room that ends at any byte", static_cast<int>(count), fmt::format("{} were whole", whole));
}

}  // namespace
}  // namespace lockstep::torture

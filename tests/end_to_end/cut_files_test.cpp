// What each source records, cut at every byte: the rest opens, or it is said why it does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <span>

#include "analyzer/open_job.h"
#include "tests/end_to_end/hard_run.h"
#include "tests/end_to_end/programs/hard_times.h"

namespace lockstep::end_to_end {
namespace {

using testing::HasSubstr;

// The file of a job that ended, or that was killed: compacted and with a footer, or neither.
class CutFiles : public testing::TestWithParam<std::tuple<HardSource, std::string>> {
 protected:
  void SetUp() override {
    HardRun run(std::get<0>(GetParam()), std::get<1>(GetParam()));
    run.start();
    ASSERT_TRUE(run.await_first());
    run.leave("go");
    run.finish();
    std::ifstream file(run.record().run_path() + "/rank-0.lst", std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    bytes_.resize(text.size());
    std::copy(text.begin(), text.end(), reinterpret_cast<char*>(bytes_.data()));
    ASSERT_GT(bytes_.size(), 1000U);
  }

  std::vector<std::byte> bytes_;
};

// Events by kind, in the order of the enumeration.
std::vector<std::uint64_t> counts(const trace::Reader& reader) {
  std::vector<std::uint64_t> all;
  using trace::EventKind;
  for (const EventKind kind :
       {EventKind::host_range, EventKind::open_range, EventKind::mark, EventKind::counter,
        EventKind::device_activity, EventKind::api_call, EventKind::collective, EventKind::step,
        EventKind::clock_snapshot, EventKind::drop, EventKind::collective_issue}) {
    all.push_back(reader.count(kind));
  }
  return all;
}

TEST_P(CutFiles, OpenOrSayWhy) {
  const HardSource source = std::get<0>(GetParam());
  std::vector<std::uint64_t> before(11, 0);
  Seen seen_before;
  for (std::size_t size = 0; size < bytes_.size(); ++size) {
    // A copy of its own, so that AddressSanitizer sees a read beyond the cut.
    const std::vector<std::byte> left(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(size));
    const Result<trace::Reader> reader = trace::Reader::open(left, "cut.lst");
    if (!reader.ok()) {
      ASSERT_THAT(reader.error().message, HasSubstr("cut.lst")) << size;
      ASSERT_EQ(before, std::vector<std::uint64_t>(11, 0)) << "a longer file says less: " << size;
      continue;
    }
    ASSERT_FALSE(reader.value().complete()) << size;
    ASSERT_FALSE(reader.value().warnings().empty()) << size;
    const std::vector<std::uint64_t> now = counts(reader.value());
    // Only whole chunks are read, so that nothing changes at most cuts.
    if (now == before) continue;
    for (std::size_t kind = 0; kind < now.size(); ++kind) ASSERT_GE(now[kind], before[kind]) << size;
    ASSERT_TRUE(reader.value().verify().ok()) << size;
    const Seen seen = see(source, reader.value());
    ASSERT_TRUE(seen.is_within(0, hard_times::kFirst + hard_times::kSecond));
    ASSERT_TRUE(std::includes(seen.numbers.begin(), seen.numbers.end(), seen_before.numbers.begin(),
                              seen_before.numbers.end()));
    before = now;
    seen_before = seen;
  }
  const Result<trace::Reader> whole = trace::Reader::open(bytes_, "whole.lst");
  ASSERT_TRUE(whole.ok());
  EXPECT_TRUE(see(source, whole.value()).has(source, 0, hard_times::kFirst));
}

TEST_P(CutFiles, AreImportedWithAWarning) {
  const TemporaryFolder folder;
  const std::string path = folder / "rank-0.lst";
  // A sample, and the last bytes.
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < 40; ++i) sizes.push_back(bytes_.size() * i / 40);
  sizes.push_back(bytes_.size() - 1);
  for (const std::size_t size : sizes) {
    {
      std::ofstream file(path, std::ios::binary | std::ios::trunc);
      file.write(reinterpret_cast<const char*>(bytes_.data()), static_cast<std::streamsize>(size));
    }
    const Result<analyzer::Job> job = analyzer::open_job({path});
    if (!job.ok()) {
      EXPECT_THAT(job.error().message, HasSubstr("rank-0.lst")) << size;
      continue;
    }
    const auto tells = [](const analyzer::Warning& warning) {
      return warning.code == "file_incomplete" || warning.code == "file_damaged";
    };
    EXPECT_TRUE(std::any_of(job.value().warnings.begin(), job.value().warnings.end(), tells)) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, CutFiles,
                         testing::Combine(testing::ValuesIn(kHardSources),
                                          testing::Values(std::string("finish"), std::string("kill"))),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" + std::get<1>(info.param);
                         });

}  // namespace
}  // namespace lockstep::end_to_end

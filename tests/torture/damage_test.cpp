// Flipped bits and cuts in a run's files: there is always a report, every rank is in it, figures are the same
// or it is said that they may not be, and nothing crashes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "tests/end_to_end/recorded_run.h"
#include "tests/torture/trials.h"
#include "trace/reader.h"

namespace lockstep::torture {
namespace {

using nlohmann::json;
using testing::Contains;

constexpr int kFew = 30;
constexpr std::size_t kFileHeaderSize = 32;  // docs/trace-format.md

// How many events of the kinds of this run can be read, and how many the largest chunk of them holds.
struct Readable {
  std::uint64_t events = 0;
  std::uint64_t largest_chunk = 0;
};
Readable readable(const std::filesystem::path& path) {
  Readable found;
  const Result<trace::Reader> reader = trace::Reader::open(path);
  if (!reader.ok()) return found;
  const auto count = [&]<class E>(std::vector<E> events) {
    // What is damaged is said, and not read.
    (void)reader.value().read<E>({}, events).ok();
    found.events += events.size();
  };
  count(std::vector<trace::DeviceActivity>());
  count(std::vector<trace::ApiCall>());
  count(std::vector<trace::Collective>());
  count(std::vector<trace::Step>());
  count(std::vector<trace::ClockSnapshot>());
  for (const trace::ChunkInfo& chunk : reader.value().chunks())
    found.largest_chunk = std::max(found.largest_chunk, chunk.count);
  return found;
}

class Damage : public testing::Test {
 protected:
  struct File {
    std::filesystem::path path;
    std::string text;
    bool is_manifest = false;
    int rank = -1;
    Readable readable;
  };

  void SetUp() override {
    end_to_end::shell(fmt::format("{} {} 2 20 6 3", LOCKSTEP_MAKE_RUN, folder_ / "run"));
    const std::filesystem::path run = folder_ / "run";
    for (int rank = 0; rank < 2; ++rank) {
      const std::filesystem::path path = run / fmt::format("rank-{}.lst", rank);
      files_.push_back({path, test::read_whole_file(path), false, rank, readable(path)});
      ASSERT_GT(files_.back().readable.events, 100U);
    }
    files_.push_back({run / "manifest.json", test::read_whole_file(run / "manifest.json"), true, -1, {}});
    for (const File& file : files_) ASSERT_FALSE(file.text.empty()) << file.path;
    whole_ = analyze();
    ASSERT_TRUE(whole_.is_object());
    ASSERT_EQ(whole_["run"]["ranks_present"], json::array({0, 1}));
  }

  // null where there is no report.
  json analyze() {
    outcome_ = end_to_end::run({end_to_end::binary("lockstep"), "analyze", folder_ / "run", "--json", "-"});
    return outcome_.exit_code == 0 ? json::parse(outcome_.standard_output, nullptr, false) : json();
  }

  void put(const File& file, std::string_view text) {
    std::ofstream(file.path, std::ios::binary | std::ios::trunc) << text;
  }

  bool has_the_same_figures(const json& report) const {
    return report["ranks"] == whole_["ranks"] && report["steps"] == whole_["steps"] &&
           report["collectives"] == whole_["collectives"];
  }

  // The codes of the warnings that name the file and that the whole run has not.
  std::vector<std::string> new_warnings_of(const File& file, const json& report) const {
    std::vector<std::string> codes;
    for (const json& warning : report["warnings"]) {
      const bool is_new = std::find(whole_["warnings"].begin(), whole_["warnings"].end(), warning) ==
                          whole_["warnings"].end();
      const auto message = warning["message"].get<std::string>();
      if (is_new && message.find(file.path.filename().string()) != std::string::npos)
        codes.push_back(warning["code"].get<std::string>());
    }
    return codes;
  }

  // The report of a run of which this file is `text`. There is one whatever became of one file: the other
  // rank's is whole.
  json report_of(const File& file, std::string_view text) {
    put(file, text);
    const json report = analyze();
    EXPECT_EQ(outcome_.exit_code, 0) << "signal " << outcome_.signal << ": " << outcome_.standard_error;
    EXPECT_TRUE(report.is_object());
    if (report.is_object() && has_the_same_figures(report)) ++same_;
    return report;
  }

  // All that the manifest said it says still, whatever became of its checksum.
  static bool says_the_same(const File& file, std::string_view text) {
    const json before = json::parse(file.text), now = json::parse(text, nullptr, false);
    if (!now.is_object()) return false;
    for (const auto& [name, value] : before.items())
      if (name != "checksum" && (!now.contains(name) || now[name] != value)) return false;
    return true;
  }

  // No figure stands on the manifest, since the ranks' files say how many ranks there are. Where it says
  // another thing (of how the job ended, say) than it did, or is no JSON any more, it is said to be damaged.
  void expect_honest_manifest(const File& file, std::string_view text) {
    const json report = report_of(file, text);
    if (!report.is_object()) return;
    EXPECT_EQ(report["run"]["ranks_present"], json::array({0, 1}));
    EXPECT_TRUE(has_the_same_figures(report));
    if (!says_the_same(file, text)) {
      EXPECT_THAT(new_warnings_of(file, report), Contains("manifest_damaged"));
    }
  }

  end_to_end::TemporaryFolder folder_;
  std::vector<File> files_;
  json whole_;
  end_to_end::Outcome outcome_;
  int same_ = 0;
};

TEST_F(Damage, FlippedBitsCostTheChunkThatTheyHit) {
  for (int trial = 0; trial < trials(kFew); ++trial) {
    std::mt19937_64 random = random_of("flipped bits", trial);
    const File& file = files_[random() % files_.size()];
    std::string text = file.text;
    const std::size_t at = random() % text.size();
    const unsigned bit = random() % 8;
    text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ (1U << bit));
    SCOPED_TRACE(fmt::format("trial {}: bit {} of byte {} of {}", trial, bit, at, file.path.string()));
    if (file.is_manifest) {
      expect_honest_manifest(file, text);
    } else if (const json report = report_of(file, text); report.is_object()) {
      EXPECT_EQ(report["run"]["ranks_present"], json::array({0, 1}));
      // Every byte is under some checksum: said whether figures change or not.
      EXPECT_THAT(new_warnings_of(file, report), Contains("file_damaged"));
      EXPECT_GE(readable(file.path).events + file.readable.largest_chunk, file.readable.events);
    }
    put(file, file.text);
  }
  report("flipped bits", trials(kFew), fmt::format("{} with the same figures", same_));
}

// One bit is all that a job which ended well is apart from one that failed.
TEST_F(Damage, AFlippedBitOfTheExitCodeIsSaid) {
  const File& file = files_.back();
  ASSERT_TRUE(file.is_manifest);
  std::string text = file.text;
  const std::string exit_code = R"("exit_code": 0)";
  const std::size_t at = text.find(exit_code);
  ASSERT_NE(at, std::string::npos);
  text[at + exit_code.size() - 1] ^= 1;
  ASSERT_EQ(json::parse(text)["exit_code"], 1);
  expect_honest_manifest(file, text);
}

TEST_F(Damage, CutsLeaveWhatStandsBeforeThem) {
  for (int trial = 0; trial < trials(kFew); ++trial) {
    std::mt19937_64 random = random_of("cuts", trial);
    const File& file = files_[random() % files_.size()];
    const std::size_t size = random() % file.text.size();
    SCOPED_TRACE(fmt::format("trial {}: {} bytes of {}", trial, size, file.path.string()));
    const std::string text = file.text.substr(0, size);
    if (file.is_manifest) {
      expect_honest_manifest(file, text);
    } else if (const json report = report_of(file, text); report.is_object()) {
      const std::vector<std::string> codes = new_warnings_of(file, report);
      if (size < kFileHeaderSize) {
        // No trace file any more. The other rank is told of.
        EXPECT_EQ(report["run"]["ranks_present"], json::array({1 - file.rank}));
        EXPECT_EQ(report["run"]["ranks_missing"], json::array({file.rank}));
        EXPECT_THAT(codes, Contains("file_unreadable"));
      } else {
        // Its name says which rank it is where the cut leaves nothing else.
        EXPECT_EQ(report["run"]["ranks_present"], json::array({0, 1}));
        EXPECT_THAT(codes, Contains("file_damaged"));
      }
    }
    put(file, file.text);
  }
  report("cuts", trials(kFew), fmt::format("{} with the same figures", same_));
}

}  // namespace
}  // namespace lockstep::torture

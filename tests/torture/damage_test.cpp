// Flipped bits and cuts in a run's files: every rank is still there, figures are the same or it is said that
// they may not be, and nothing crashes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/end_to_end/recorded_run.h"
#include "tests/torture/trials.h"

namespace lockstep::torture {
namespace {

using nlohmann::json;

constexpr int kFew = 30;

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Damage : public testing::Test {
 protected:
  void SetUp() override {
    end_to_end::shell(fmt::format("{} {} 2 20 6 3", LOCKSTEP_MAKE_RUN, folder_ / "run"));
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "run"))
      if (entry.is_regular_file()) files_.emplace_back(entry.path(), content(entry.path()));
    std::sort(files_.begin(), files_.end());
    ASSERT_GE(files_.size(), 2U);
    whole_ = analyze();
    ASSERT_TRUE(whole_.is_object());
  }

  // null where there is no report.
  json analyze() {
    outcome_ = end_to_end::run({end_to_end::binary("lockstep"), "analyze", folder_ / "run", "--json", "-"});
    return outcome_.exit_code == 0 ? json::parse(outcome_.standard_output, nullptr, false) : json();
  }

  void put(std::size_t file, const std::string& text) {
    std::ofstream(files_[file].first, std::ios::binary | std::ios::trunc) << text;
  }

  // Files that say nothing of it, and have other figures.
  void expect_honest(const json& report) {
    EXPECT_TRUE(outcome_.signal == 0 && (outcome_.exit_code == 0 || outcome_.exit_code == 1))
        << outcome_.exit_code << ", signal " << outcome_.signal << ": " << outcome_.standard_error;
    if (report.is_null()) {
      EXPECT_THAT(outcome_.standard_error, testing::HasSubstr("lockstep"));
      ++refused_;
      return;
    }
    EXPECT_EQ(report["run"]["ranks_present"].size(), 2U);
    const bool same = report["ranks"] == whole_["ranks"] && report["steps"] == whole_["steps"] &&
                      report["collectives"] == whole_["collectives"];
    if (same) {
      ++same_;
    } else {
      EXPECT_FALSE(report["warnings"].empty()) << "other figures, and no warning";
    }
  }

  end_to_end::TemporaryFolder folder_;
  std::vector<std::pair<std::filesystem::path, std::string>> files_;
  json whole_;
  end_to_end::Outcome outcome_;
  int refused_ = 0, same_ = 0;
};

TEST_F(Damage, FlippedBitsCostTheChunkThatTheyHit) {
  for (int trial = 0; trial < trials(kFew); ++trial) {
    std::mt19937_64 random = random_of("flipped bits", trial);
    const std::size_t file = random() % files_.size();
    std::string text = files_[file].second;
    const std::size_t at = random() % text.size();
    const unsigned bit = random() % 8;
    text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ (1U << bit));
    SCOPED_TRACE(
        fmt::format("trial {}: bit {} of byte {} of {}", trial, bit, at, files_[file].first.string()));
    put(file, text);
    expect_honest(analyze());
    put(file, files_[file].second);
  }
  report("flipped bits", trials(kFew),
         fmt::format("{} with the same figures, {} refused with an error", same_, refused_));
}

TEST_F(Damage, CutsLeaveWhatStandsBeforeThem) {
  for (int trial = 0; trial < trials(kFew); ++trial) {
    std::mt19937_64 random = random_of("cuts", trial);
    const std::size_t file = random() % files_.size();
    const std::size_t size = random() % files_[file].second.size();
    SCOPED_TRACE(fmt::format("trial {}: {} bytes of {}", trial, size, files_[file].first.string()));
    put(file, files_[file].second.substr(0, size));
    const json report = analyze();
    EXPECT_TRUE(outcome_.signal == 0 && (outcome_.exit_code == 0 || outcome_.exit_code == 1));
    if (report.is_object() && report["ranks"] != whole_["ranks"]) {
      EXPECT_FALSE(report["warnings"].empty()) << "other figures, and no warning";
    }
    put(file, files_[file].second);
  }
  report("cuts", trials(kFew));
}

}  // namespace
}  // namespace lockstep::torture

// What holds of every kind of finding.
#include "analyzer/diagnose/finding_kinds.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/report/sample_reports.h"
#include "tests/temporary_folder.h"

namespace lockstep::analyzer {
namespace {

const std::filesystem::path kKindsFolder =
    std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "analyzer/diagnose/kinds";

TEST(FindingKinds, EachHasACodeOfItsOwn) {
  std::set<std::string_view> codes;
  for (const FindingKind* const kind : finding_kinds()) {
    EXPECT_TRUE(std::regex_match(std::string(kind->code), std::regex("[a-z][a-z0-9]*(_[a-z0-9]+)*")))
        << kind->code;
    EXPECT_TRUE(codes.insert(kind->code).second) << kind->code;
    EXPECT_EQ(find_finding_kind(kind->code), kind);
  }
  EXPECT_GE(codes.size(), 37U);
  EXPECT_EQ(find_finding_kind("no_such_code"), nullptr);
}

TEST(FindingKinds, EachIsExplainedWithRemedies) {
  for (const FindingKind* const kind : finding_kinds()) {
    EXPECT_FALSE(kind->title.empty()) << kind->code;
    ASSERT_NE(kind->explanation, nullptr) << kind->code;
    EXPECT_TRUE(kind->explanation->meaning.ends_with('.')) << kind->code;
    EXPECT_TRUE(kind->explanation->found.ends_with('.')) << kind->code;
    EXPECT_TRUE(kind->explanation->wrong.ends_with('.')) << kind->code << ": what would show it wrong?";
    EXPECT_FALSE(kind->explanation->remedies.empty()) << kind->code;
    for (const Remedy& remedy : kind->explanation->remedies) {
      EXPECT_FALSE(remedy.where.empty()) << kind->code;
      EXPECT_FALSE(remedy.what.empty()) << kind->code;
    }
  }
}

TEST(FindingKinds, MakeFindingsThatSayWhatTheKindSays) {
  for (const FindingKind* const kind : finding_kinds()) {
    const Finding finding = kind->make();
    EXPECT_TRUE(is_of(finding, *kind));
    EXPECT_EQ(finding.title, kind->title);
    EXPECT_EQ(finding.topic, kind->topic) << kind->code;
    EXPECT_EQ(finding.cause, kind->cause) << kind->code;
    EXPECT_EQ(finding.accuses, kind->accuses) << kind->code;
    EXPECT_EQ(finding.alarm, kind->alarm) << kind->code;
    EXPECT_EQ(finding.is_note, kind->severity == SeverityRule::note) << kind->code;
    EXPECT_EQ(finding.severity.empty(),
              kind->severity == SeverityRule::by_loss || kind->severity == SeverityRule::note)
        << kind->code;
  }
}

// What is drawn and pointed at is of the cause's time.
TEST(FindingKinds, WhatNeedsACauseHasOne) {
  for (const FindingKind* const kind : finding_kinds()) {
    const bool in_time = kind->picture == "cause" || kind->accounts != Accounts::no ||
                         kind->points_at == PointsAt::worst_operation ||
                         kind->points_at == PointsAt::worst_step;
    EXPECT_TRUE(kind->cause || !in_time) << kind->code;
    EXPECT_EQ(kind->picture == "buckets", kind->bucket_operation != Operation::unknown) << kind->code;
  }
}

// What is left of a cause is found after all that accounts for it; alarms come before all.
TEST(FindingKinds, StandInTheOrderInWhichTheyAreFound) {
  const auto kinds = finding_kinds();
  const auto is_alarm = [](const FindingKind* kind) { return kind->alarm != Alarm::none; };
  EXPECT_TRUE(std::is_partitioned(kinds.begin(), kinds.end(), is_alarm));
  const auto place = [&](std::string_view code) {
    return std::find(kinds.begin(), kinds.end(), find_finding_kind(code)) - kinds.begin();
  };
  for (const FindingKind* const kind : kinds) {
    const bool accounts = kind->accounts != Accounts::no;
    if (accounts && kind->cause == Cause::transfer) {
      EXPECT_LT(place(kind->code), place("exposed_transfer")) << kind->code;
    }
    if (accounts && kind->cause == Cause::barrier_wait) {
      EXPECT_LT(place(kind->code), place("imbalance")) << kind->code;
    }
    if (kind->says_nothing_is_hidden) {
      EXPECT_LT(place(kind->code), place("no_overlap")) << kind->code;
    }
  }
}

// Sentences elsewhere in the report count on there being such a kind.
TEST(FindingKinds, EachTopicIsOfOneKind) {
  std::map<Topic, std::string_view> codes;
  for (const FindingKind* const kind : finding_kinds()) {
    if (kind->topic == Topic::other) continue;
    EXPECT_TRUE(codes.emplace(kind->topic, kind->code).second) << kind->code;
  }
  EXPECT_THAT(codes, testing::ElementsAre(testing::Pair(Topic::late_throughout, "straggler_persistent"),
                                          testing::Pair(Topic::taking_turns, "jitter"),
                                          testing::Pair(Topic::short_cores, "cores_shared"),
                                          testing::Pair(Topic::pipeline_bubble, "pipeline_bubble"),
                                          testing::Pair(Topic::heavy_stage, "unbalanced_stages"),
                                          testing::Pair(Topic::interrupted, "job_interrupted")));
}

// Each file in kinds/ has its rule in the list, and each rule tests beside it.
TEST(FindingKinds, NoFileIsForgotten) {
  std::set<std::string> files, tests;
  for (const auto& entry : std::filesystem::directory_iterator(kKindsFolder)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".cpp") continue;
    if (name.ends_with("_test"))
      tests.insert(name);
    else
      files.insert(name);
  }
  EXPECT_EQ(files.size(), finding_rules().size());
  const std::string list = test::read_whole_file(kKindsFolder.parent_path() / "finding_rules.def");
  for (const std::string& file : files) {
    EXPECT_THAT(list, testing::HasSubstr("\nLOCKSTEP_FINDING_RULE(" + file + ")")) << file;
    EXPECT_TRUE(tests.contains(file + "_test")) << file;
  }
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// A rule without figures or names to say takes its kind's title.
TEST(FindingKinds, TitlesStandOnceAndCodesAreAskedForInTests) {
  std::string rules, tests;
  for (const auto& entry : std::filesystem::directory_iterator(kKindsFolder))
    (entry.path().stem().string().ends_with("_test") ? tests : rules) += test::read_whole_file(entry.path());
  for (const FindingKind* const kind : finding_kinds()) {
    EXPECT_EQ(count_of(rules, fmt::format("\"{}\"", kind->title)), 1U) << kind->code << ": " << kind->title;
    EXPECT_THAT(tests, testing::HasSubstr(fmt::format("\"{}\"", kind->code)));
  }
}

// Codes that are words for something else besides: a cause, a figure, why nobody is accused, a range, a
// panel. As literals they prove nothing.
const std::set<std::string_view> kWordsBesides = {
    "cores_shared", "data_loading", "exposed_communication", "gpu_shared", "hang",
    "host_bound",   "imbalance",    "pipeline_bubble",       "queued"};

// Where `text` names a kind that it has to ask for a property instead: a code that is compared; and any that
// stands in it, since a comparison may go through a constant, a list or a lookup. The table's own files alone
// have to name them.
std::vector<std::string_view> codes_named(std::string_view text, bool is_table) {
  constexpr std::string_view kQuotes = "\"'`";
  std::vector<std::string_view> named;
  for (std::size_t at = text.find_first_of(kQuotes); at != std::string_view::npos;
       at = text.find_first_of(kQuotes, at + 1)) {
    const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", at + 1);
    if (end == std::string_view::npos || text[end] != text[at]) continue;
    const std::string_view code = text.substr(at + 1, end - at - 1), before = text.substr(0, at);
    const bool compared = before.ends_with("code == ") || before.ends_with("code != ") ||
                          before.ends_with("code === ") || before.ends_with("code !== ");
    if ((compared || (!is_table && !kWordsBesides.contains(code))) && find_finding_kind(code) != nullptr)
      named.push_back(code);
  }
  return named;
}

TEST(FindingKinds, AreSeenWhereTheyAreNamed) {
  using testing::Contains;
  EXPECT_THAT(codes_named("if (finding.code == \"host_bound\")", false), Contains("host_bound"));
  EXPECT_THAT(codes_named("finding.code !== 'jitter'", true), Contains("jitter"));
  EXPECT_THAT(codes_named("constexpr std::string_view kEnded = \"job_interrupted\";", false),
              Contains("job_interrupted"));
  EXPECT_THAT(codes_named("const ended = ['job_failed', 'job_interrupted'];", false),
              testing::UnorderedElementsAre("job_failed", "job_interrupted"));
  EXPECT_THAT(codes_named(".code = \"job_interrupted\",", true), testing::IsEmpty());
  EXPECT_THAT(codes_named("reason.code = \"queued\"; warning.code == \"file_damaged\"", false),
              testing::IsEmpty());
}

// What has to tell kinds apart asks for a property of the table, or with is_of().
TEST(FindingKinds, NothingComparesTheirCodes) {
  const std::filesystem::path root = LOCKSTEP_SOURCE_DIR;
  std::size_t comparisons = 0;
  for (const char* const folder : {"analyzer", "viewer", "cli"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension().string(), stem = entry.path().stem().string();
      if (extension != ".cpp" && extension != ".h" && extension != ".js") continue;
      if (stem.ends_with("_test") || stem.starts_with("sample_")) continue;
      const std::string text = test::read_whole_file(entry.path());
      EXPECT_THAT(codes_named(text, entry.path().parent_path() == kKindsFolder), testing::IsEmpty())
          << entry.path();
      comparisons += count_of(text, "code == \"");
    }
  }
  EXPECT_GT(comparisons, 5U) << "of the codes of warnings";
}

TEST(FindingKinds, OfTheSampleReportsAreAllInTheTable) {
  const Report report = small_report();
  ASSERT_FALSE(report.findings.empty());
  for (const Finding& finding : report.findings)
    EXPECT_NE(find_finding_kind(finding.code), nullptr) << finding.code;
}

}  // namespace
}  // namespace lockstep::analyzer

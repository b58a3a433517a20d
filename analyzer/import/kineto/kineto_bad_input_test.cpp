// Strange, broken and contradictory Kineto files: what is kept, and what is said.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/import/kineto/kineto.h"
#include "analyzer/import/kineto/kineto_text.h"
#include "analyzer/import/test_files.h"

namespace lockstep::analyzer::kineto {
namespace {

using testing::HasSubstr;

TEST(KinetoBadInput, DropsEventsWithoutUsableTimesAndCountsThem) {
  const RankImport import = import_text(document({
      kernel("kept", "1", "0", 1),
      kernel("negative", "1", "-1", 1),
      kernel("overflowing", "1", "9223372036854775", 1),
      kernel("far too long", "1", "1e40", 1),
      kernel("ts overflows", "9223372036854776", "1", 1),
      kernel("beyond 146 years", "4611686018427388", "1", 1),
      kernel("no number", "\"soon\"", "1", 1),
      kernel("null", "1", "null", 1),
      R"({"ph": "X", "cat": "kernel", "name": "no dur", "pid": 0, "tid": 7, "ts": 5})",
      R"({"ph": "X", "cat": "cpu_op", "name": "host without ts", "pid": 0, "tid": 7, "dur": 5})",
  }));
  ASSERT_EQ(import.trace.activities.size(), 1u);
  EXPECT_EQ(import.trace.dropped_events, 9u);
  const Warning* warning = find_warning(import.warnings, "events_dropped");
  ASSERT_NE(warning, nullptr);
  EXPECT_EQ(warning->rank, 3);
  EXPECT_THAT(
      warning->message,
      HasSubstr("9 events were dropped: 4 without a usable ts, 2 without a dur, 1 with a negative dur, 2 "
                "whose dur overflows"));
}

TEST(KinetoBadInput, TakesTheRankFromTheNameIfItMust) {
  const RankImport import =
      import_text(document({kernel("a", "10", "1", 1)}, R"("x": 1)"), {}, "trace_rank5.json");
  EXPECT_EQ(import.trace.rank, 5);
  EXPECT_NE(find_warning(import.warnings, "rank_from_file_name"), nullptr);
  const RankImport unknown = import_text(document({kernel("a", "10", "1", 1)}, R"("distributedInfo": 7)"));
  EXPECT_FALSE(unknown.rank_known);
  EXPECT_NE(find_warning(unknown.warnings, "distributed_info"), nullptr);
}

TEST(KinetoBadInput, ReadsNumbersWrittenAsTextAndFieldsInAnyOrder) {
  const RankImport import = import_text(document({
      R"({"args": {"correlation": "9", "stream": "7", "device": "0"}, "dur": "2.5", "ts": "10", "tid": "7", "name": "a", "cat": "kernel", "ph": "X"})",
      R"({"args": {"correlation": 9}, "dur": 1, "name": "cudaLaunchKernel", "ts": 3, "ph": "X", "cat": "cuda_runtime"})",
  }));
  ASSERT_EQ(import.trace.activities.size(), 1u);
  EXPECT_EQ(import.trace.activities[0].end, 12'500);
  EXPECT_EQ(import.trace.activities[0].launch_begin, 3'000);
  EXPECT_EQ(import.trace.lanes[0].handle, 7u);
}

TEST(KinetoBadInput, OfAKeyThatStandsTwiceTheFirstCounts) {
  const RankImport import = import_text(document({
      R"({"ph": "X", "ph": "M", "cat": "kernel", "cat": "cpu_op", "name": "a", "name": "b", "ts": 1, "ts": 2, "dur": 3, "dur": 4,
          "args": {"stream": 7, "stream": 8}, "args": {"stream": 9}})"}));
  ASSERT_EQ(import.trace.activities.size(), 1u);
  EXPECT_EQ(import.strings.view(import.trace.activities[0].name), "a");
  EXPECT_EQ(import.trace.activities[0].begin, 1'000);
  EXPECT_EQ(import.trace.activities[0].end, 4'000);
  EXPECT_EQ(import.trace.lanes[0].handle, 7u);
}

TEST(KinetoBadInput, UnescapesNamesAndKeepsHugeOnes) {
  const std::string huge(3'000'000, 'x');
  const RankImport import =
      import_text(document({kernel(R"(a\"b\\c\u00e9)", "1", "1", 1), kernel(huge, "2", "1", 2)}));
  ASSERT_EQ(import.trace.activities.size(), 2u);
  EXPECT_EQ(import.strings.view(import.trace.activities[0].name), "a\"b\\c\xC3\xA9");
  EXPECT_EQ(import.strings.view(import.trace.activities[1].name), huge);
}

TEST(KinetoBadInput, DoesNotMergeDevicesSilently) {
  const RankImport import = import_text(document({
      kernel("a", "1", "1", 1),
      kernel("b", "2", "1", 2),
      event("kernel", "other", "3", "1", 7, R"("device": 1, "stream": 7, "correlation": 3)"),
  }));
  EXPECT_EQ(import.trace.activities.size(), 2u);
  EXPECT_EQ(import.trace.dropped_events, 1u);
  const Warning* warning = find_warning(import.warnings, "several_devices");
  ASSERT_NE(warning, nullptr);
  EXPECT_THAT(warning->message, HasSubstr("device 0: 2, device 1: 1"));
}

TEST(KinetoBadInput, OverlappingStepsAreSaid) {
  const RankImport import = import_text(
      document({annotation("ProfilerStep#1", "0", "100"), annotation("ProfilerStep#2", "50", "100"),
                annotation("ProfilerStep#1", "0", "100", 2), annotation("ProfilerStep#3", "150", "10")}));
  ASSERT_EQ(import.trace.steps.size(), 2u);
  EXPECT_EQ(import.trace.steps[1].number, 3);
  const Warning* warning = find_warning(import.warnings, "steps_overlap");
  ASSERT_NE(warning, nullptr);
  EXPECT_THAT(warning->message, HasSubstr("1 step mark overlap"));
}

TEST(KinetoBadInput, ErrorsNameTheFileAndWhatIsWrong) {
  EXPECT_THAT(import_error(""), HasSubstr("trace.json: the file is empty"));
  EXPECT_THAT(import_error("\n\n "), HasSubstr("the file is empty"));
  EXPECT_THAT(import_error("hello"), HasSubstr("expected '{' or '['"));
  EXPECT_THAT(import_error(R"({"a": 1})"), HasSubstr("JSON without an array \"traceEvents\""));
  EXPECT_THAT(import_error(R"({"traceEvents": 7})"), HasSubstr("JSON without an array \"traceEvents\""));
  EXPECT_THAT(import_error(R"({"schemaVersion": 1, "traceEv)"),
              HasSubstr("no traceEvents could be read: ends in the middle"));
  EXPECT_THAT(import_error(document({})), HasSubstr("trace.json: traceEvents holds no events: the profiler"));
  EXPECT_THAT(import_error(document({"7"})), HasSubstr("no element of traceEvents is an event"));
  EXPECT_THAT(import_error(gzip("")), HasSubstr("the file is empty"));
  EXPECT_THAT(import_error(gzip(document({})).substr(0, 12)), HasSubstr("the gzip data is cut short"));
  const TemporaryFolder folder;
  EXPECT_THAT(import_file(folder / "absent.json").error().message, HasSubstr("absent.json: No such file"));
}

TEST(KinetoBadInput, SaysWhatWasLostOfACutFile) {
  const std::string text = document({kernel("a", "1", "1", 1), kernel("b", "2", "1", 2)});
  const RankImport import = import_text(text.substr(0, text.size() - 20));
  EXPECT_EQ(import.trace.activities.size(), 1u);
  const Warning* warning = find_warning(import.warnings, "file_damaged");
  ASSERT_NE(warning, nullptr);
  EXPECT_THAT(warning->message, HasSubstr("ends in the middle of the JSON"));
  EXPECT_THAT(warning->message, HasSubstr("the 1 event before are used"));
}

TEST(KinetoBadInput, CountsElementsThatAreNoEvents) {
  const RankImport import = import_text(document({"7", "[]", "\"text\"", kernel("a", "1", "1", 1), "null"}));
  EXPECT_EQ(import.trace.activities.size(), 1u);
  EXPECT_EQ(import.trace.dropped_events, 4u);
  EXPECT_NE(find_warning(import.warnings, "events_unreadable"), nullptr);
}

}  // namespace
}  // namespace lockstep::analyzer::kineto

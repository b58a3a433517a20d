// Random documents against the oracle, and damaged ones against the promises of job.h.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/import/kineto/byte_source.h"
#include "analyzer/import/kineto/event_stream.h"
#include "analyzer/import/kineto/kineto.h"
#include "analyzer/import/kineto/oracle.h"
#include "analyzer/import/kineto/random_trace.h"
#include "analyzer/import/kineto/rank_builder.h"
#include "analyzer/import/rank/merge.h"
#include "analyzer/import/test_files.h"
#include "analyzer/model/check_job.h"

namespace lockstep::analyzer::kineto {
namespace {

using testing::ElementsAreArray;

const char* name_of(Class activity_class) {
  switch (activity_class) {
    case Class::compute:
      return "compute";
    case Class::collective:
      return "collective";
    case Class::p2p:
      return "p2p";
    case Class::copy:
      return "copy";
    case Class::sync:
      return "sync";
    case Class::unclassified:
      return "unclassified";
  }
  return "?";
}

std::vector<std::string> described(const RankImport& import) {
  std::vector<std::string> lines;
  for (const Activity& a : import.trace.activities) {
    std::string details;
    if (a.communication != kNone) {
      const Communication& c = import.trace.communications[a.communication];
      std::string group = "none";
      if (c.group != kNone)
        group =
            fmt::format("{}:{}", import.groups[c.group].name, fmt::join(import.groups[c.group].ranks, ","));
      details = fmt::format("{} {} {} {} {} {}", trace::to_string(c.operation), c.has_metadata, group,
                            c.sequence, c.bytes, c.peer);
    }
    lines.push_back(fmt::format(
        "{} {} {} {} {} {} {} | {}", a.begin, a.end, import.strings.view(a.name),
        static_cast<std::int64_t>(import.trace.lanes[a.lane].handle), name_of(a.activity_class),
        a.launch_begin == kUnknownTime ? "none" : fmt::format("{}-{}", a.launch_begin, a.launch_end),
        a.step == kNone ? "none" : std::to_string(import.trace.steps[a.step].number), details));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

// A tiny window, so that every document is cut in many places.
RankImport import_in_windows(const std::string& path, std::size_t window, StreamSummary& summary,
                             bool keep_host_ranges) {
  ByteSource source = must(ByteSource::open(path));
  Options options_of_file;
  options_of_file.keep_host_ranges = keep_host_ranges;
  RankBuilder builder(path, options_of_file, /*operators=*/false, [] { return 0.5; });
  StreamOptions options;
  options.window = window;
  summary = stream_events(source, builder, options);
  return builder.take();
}

TEST(KinetoProperty, AgreesWithTheOracleOnRandomDocuments) {
  const TemporaryFolder folder;
  std::uint64_t activities = 0, communications = 0, launched = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    RandomTrace random(seed);
    const std::string text = random.document();
    const OracleResult expected = oracle_import(text);
    StreamSummary summary;
    const RankImport import = import_in_windows(folder.write("trace.json", text), 64 + random.below(2000),
                                                summary, random.below(2) == 0);

    ASSERT_EQ(summary.problem, "");
    ASSERT_EQ(summary.unreadable, 0u);
    ASSERT_THAT(described(import), ElementsAreArray(expected.activities)) << text;
    ASSERT_EQ(import.trace.dropped_events, expected.dropped) << text;
    ASSERT_EQ(import.trace.resolution_ns, expected.resolution_ns) << text;
    std::vector<std::string> steps, data_loading;
    for (const StepMark& step : import.trace.steps)
      steps.push_back(fmt::format("{} {} {}", step.number, step.begin, step.end));
    for (const HostRange& range : import.trace.host_ranges)
      if (range.kind == HostKind::data_loading)
        data_loading.push_back(fmt::format("{} {}", range.begin, range.end));
    std::sort(data_loading.begin(), data_loading.end());
    ASSERT_THAT(steps, ElementsAreArray(expected.steps)) << text;
    ASSERT_THAT(data_loading, ElementsAreArray(expected.data_loading)) << text;

    activities += import.trace.activities.size();
    communications += import.trace.communications.size();
    for (const Activity& activity : import.trace.activities) launched += activity.launch_end != kUnknownTime;
  }
  // The documents exercise what they should.
  EXPECT_GT(activities, 7'000u);
  EXPECT_GT(communications, 2'000u);
  EXPECT_GT(launched, 1'500u);
}

TEST(KinetoProperty, DamagedDocumentsNeverBreakThePromisesOfAJob) {
  const TemporaryFolder folder;
  std::uint64_t readable = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    RandomTrace random(seed);
    const std::string text = random.damage(random.document());
    const std::string path =
        folder.write("rank-1.json", random.below(8) == 0 ? random.damage(gzip(text)) : text);
    Options options;
    options.keep_host_ranges = random.below(2) == 0;
    Result<RankImport> import = import_file(path, options);
    if (!import.ok()) {
      ASSERT_THAT(import.error().message, testing::HasSubstr(path));
      continue;
    }
    ++readable;
    std::vector<RankImport> imports;
    imports.push_back(std::move(import).value());
    const Result<Job> job = merge_ranks(path, std::move(imports), {}, 0);
    ASSERT_TRUE(job.ok());
    const Status status = check_job(job.value());
    ASSERT_TRUE(status.ok()) << status.error().message << "\n" << text;
  }
  EXPECT_GT(readable, 2000u);
}

}  // namespace
}  // namespace lockstep::analyzer::kineto

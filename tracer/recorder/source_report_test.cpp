// What a manifest says of sources, of which something came or not.
#include "tracer/recorder/source_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tracer/protocol/source_table.h"

namespace lockstep::tracer::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::map<std::string, SourceReport> by_name(const Manifest& manifest) {
  const auto reports = report_sources(manifest);
  return {reports.begin(), reports.end()};
}

Manifest with_one_rank() {
  Manifest manifest;
  manifest.recording.emplace();
  RecordedFile file;
  file.rank = 0;
  file.complete = true;
  file.sources["cupti"] = {"absent", "cuInit failed"};
  file.sources["pytorch"] = {"recorded", "sizes of collectives"};
  manifest.recording->ranks.push_back(file);
  return manifest;
}

TEST(SourceReport, WhatMayStandInAFileThatCannotBeReadIsNotSaidToBeAbsent) {
  Manifest manifest = with_one_rank();
  manifest.asked.emplace();
  manifest.recording->ranks.front().sources.clear();
  EXPECT_EQ(by_name(manifest).at("cupti").state, "absent");
  manifest.recording->ranks.front().unreadable = true;
  const auto sources = by_name(manifest);
  EXPECT_EQ(sources.at("cupti").state, "not known");
  EXPECT_EQ(sources.at("cupti").reason, "1 file could not be read");
  EXPECT_THAT(sources.at("nvtx").could_not_record, ElementsAre("1 file could not be read"));
}

TEST(SourceReport, EverySourceIsThereWithItsReason) {
  Manifest manifest = with_one_rank();
  manifest.asked.emplace();
  auto sources = by_name(manifest);
  EXPECT_EQ(sources.size(), kSourceNames.size());
  EXPECT_EQ(sources.at("nvtx").state, "recorded");
  EXPECT_EQ(sources.at("cupti").state, "absent");
  EXPECT_EQ(sources.at("cupti").reason, "cuInit failed");
  EXPECT_EQ(sources.at("pytorch").state, "recorded");
  EXPECT_EQ(sources.at("pytorch").reason, "");
  EXPECT_THAT(sources.at("pytorch").could_not_record, ElementsAre("sizes of collectives"));
  EXPECT_EQ(sources.at("nccl").state, "absent");
  EXPECT_EQ(sources.at("cpu").state, "not asked for");
  EXPECT_THAT(sources.at("cpu").reason, HasSubstr("--cpu"));
  EXPECT_EQ(sources.at("nvml").state, "not asked for");

  manifest.asked->sources = "pytorch, nccl";
  manifest.asked->python_hook = false;
  sources = by_name(manifest);
  EXPECT_EQ(sources.at("nvtx").state, "not asked for");
  EXPECT_EQ(sources.at("nvtx").reason, "--sources pytorch, nccl");
  EXPECT_EQ(sources.at("nccl").state, "absent");
  manifest.recording->ranks.clear();
  EXPECT_EQ(by_name(manifest).at("pytorch").reason, "--python-hook off");
}

TEST(SourceReport, OfAJobThatRunsOnlyWhatIsKnown) {
  Manifest manifest;
  manifest.asked.emplace();
  const auto sources = by_name(manifest);
  EXPECT_EQ(sources.size(), 1U);
  EXPECT_EQ(sources.at("nvtx").state, "recording");
}

TEST(SourceReport, OfAJoinedRunOnlyWhatItsFilesSay) {
  EXPECT_EQ(by_name(with_one_rank()).size(), 3U) << "nvtx, cupti, pytorch";
}

}  // namespace
}  // namespace lockstep::tracer::record

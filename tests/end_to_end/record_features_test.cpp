// Every feature of NVTX 3, recorded from programs/nvtx_features.cpp and read back event by event.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/end_to_end/recorded_run.h"

namespace lockstep {
namespace {

using end_to_end::RecordedRun;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Pair;
using testing::UnorderedElementsAre;

class RecordFeatures : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    run_ = new RecordedRun;
    end_to_end::record(*run_, {end_to_end::program("nvtx_features")});
  }
  static void TearDownTestSuite() { delete std::exchange(run_, nullptr); }
  void SetUp() override { ASSERT_EQ(run_->outcome.exit_code, 0) << run_->outcome.standard_error; }

  static RecordedRun* run_;
};
RecordedRun* RecordFeatures::run_ = nullptr;

TEST_F(RecordFeatures, Ranges) {
  const trace::Reader reader = run_->open();
  EXPECT_TRUE(reader.complete());
  const std::string main = " lane=the main thread";
  EXPECT_THAT(
      end_to_end::describe_ranges(reader),
      UnorderedElementsAre(
          "ascii" + main + " depth=0", "wide ä€😀" + main + " depth=1",
          "coloured category=seventh color=ff336699" + main + " depth=2", "temporary one" + main + " depth=0",
          "float" + main + " depth=0 payload=0.5", "started here" + main + " free",
          "overlapping" + main + " end_lane=ender é free",
          "started with attributes color=ff00ff00" + main + " free",
          "registered [library.one] category=seventh of one" + main + " free",
          "registered wide ß [library.one] category=ninth of one" + main + " free",
          "crossing [library.two €]" + main + " depth=1",
          "everything [payloads]" + main +
              " depth=0 byte=200u number=-3 text='deep' fixed=1u fixed=2u fixed=3u inner.small=-7 "
              "inner.precise=2.5 letters='abc' color='blue' ratio=0.25 address=0x1234 length=2u pointed=11u "
              "pointed=12u",
          "pushed by payload [payloads]" + main + " depth=0 value=1 result=42",
          "started by payload [payloads]" + main + " free value=1 result=42",
          "ncclAllReduce [NCCL]" + main +
              " depth=0 NCCL communicator ID=12379813738877118345u Message size [bytes]=4096u Reduction "
              "operation=0"));
  EXPECT_THAT(end_to_end::unfinished_names(reader), ElementsAre("never ended"));
  EXPECT_EQ(end_to_end::find_nesting_error(reader), "");
}

TEST_F(RecordFeatures, Marks) {
  const trace::Reader reader = run_->open();
  EXPECT_THAT(end_to_end::describe_marks(reader),
              ElementsAre("mark ascii", "mark wide €", "mark with category category=eighth",
                          "mark with unnamed category category=99", "unicode ü", "", std::string(32768, 'x'),
                          "unsigned 64 payload=18446744073709551615u", "signed 64 payload=-5",
                          "double payload=0.1", "unsigned 32 payload=4000000000u", "signed 32 payload=-6",
                          "registered wide ß [library.one] category=ninth of one",
                          "(unknown string handle) [library.one]",
                          " [payloads] count=3u values=10u values=20u values=30u tail='end'",
                          "started by payload [payloads] value=1 result=42", " [payloads] payload=1.5",
                          " [payloads] payload='plain text'", "short payload [payloads]", " [payloads]"));
}

TEST_F(RecordFeatures, LanesAreTheThreadsByTheirNames) {
  const trace::Reader reader = run_->open();
  std::vector<std::string> names;
  for (const trace::Lane& lane : reader.lanes()) {
    EXPECT_EQ(lane.kind, trace::LaneKind::host_thread);
    EXPECT_EQ(std::to_string(lane.process), reader.metadata().at("process"));
    names.push_back(lane.name);
  }
  EXPECT_THAT(names, UnorderedElementsAre("the main thread", "ender é"));
}

TEST_F(RecordFeatures, WhatCouldNotBeKeptIsCounted) {
  const std::map<std::string, std::uint64_t> expected{{"payload shorter than its schema", 1},
                                                      {"payload too large for the buffer", 1},
                                                      {"end of a range that was never started", 1}};
  EXPECT_EQ(end_to_end::drops(run_->open()), expected);
  EXPECT_EQ(run_->manifest().at("dropped").get<decltype(expected)>(), expected);
}

TEST_F(RecordFeatures, TheFileSaysWhereItComesFrom) {
  const trace::Reader reader = run_->open();
  const auto& metadata = reader.metadata();
  EXPECT_EQ(metadata.at("command"), end_to_end::program("nvtx_features"));
  EXPECT_EQ(metadata.count("rank"), 0U);
  EXPECT_THAT(metadata, IsSupersetOf({Pair(std::string("clock"), std::string("clock_monotonic"))}));
  EXPECT_GT(std::stoll(metadata.at("start_realtime")), 1'600'000'000'000'000'000);
  EXPECT_GE(reader.count(trace::EventKind::clock_snapshot), 2U);
}

TEST_F(RecordFeatures, TimesAreOfTheMonotonicClockAndBetweenTheSnapshots) {
  const trace::Reader reader = run_->open();
  std::vector<trace::ClockSnapshot> snapshots;
  ASSERT_TRUE(reader.read<trace::ClockSnapshot>({}, snapshots).ok());
  std::vector<trace::HostRange> ranges;
  ASSERT_TRUE(reader.read<trace::HostRange>({}, ranges).ok());
  for (const trace::HostRange& range : ranges) {
    EXPECT_GE(range.begin, snapshots.front().time);
    EXPECT_LE(range.end, snapshots.back().time);
  }
}

// The real libnccl where there is one: beside libtorch's wheel, or where the loader finds it.
std::string find_nccl() {
  for (const char* candidate : {LOCKSTEP_WHEELS_DIR "/nvidia/nccl/lib/libnccl.so.2", "libnccl.so.2"}) {
    if (void* library = dlopen(candidate, RTLD_LAZY | RTLD_LOCAL); library != nullptr) {
      dlclose(library);
      return candidate;
    }
  }
  return {};
}

TEST(RecordNccl, CallsCarryTheirPayloads) {
  const std::string library = find_nccl();
  if (library.empty()) GTEST_SKIP() << "libnccl.so.2 is not on this machine (PyPI: nvidia-nccl-cu13)";
  RecordedRun run;
  end_to_end::record(run, {end_to_end::program("nccl_calls"), library});
  ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.standard_error;
  const std::string common = " [NCCL] lane=main depth=0 NCCL communicator ID=0u Message size [bytes]=";
  EXPECT_THAT(end_to_end::describe_ranges(run.open()),
              ElementsAre("ncclAllReduce" + common + "4000u Reduction operation='Max'",
                          "ncclAllReduce" + common + "8000u Reduction operation='Max'",
                          "ncclAllReduce" + common + "12000u Reduction operation='Max'",
                          "ncclAllGather" + common + "2000u"));
  // Each is an issue too. Without a communicator nobody knows how many times larger an all-gather's result
  // is.
  const trace::Reader reader = run.open();
  std::vector<std::string> issues;
  ASSERT_TRUE(reader
                  .read<trace::CollectiveIssue>({},
                                                [&](const trace::CollectiveIssue& issue) {
                                                  EXPECT_EQ(issue.group, trace::kNoGroup);
                                                  issues.push_back(
                                                      std::string(trace::to_string(issue.operation)) + " " +
                                                      std::to_string(issue.bytes));
                                                })
                  .ok());
  EXPECT_THAT(issues, ElementsAre("all_reduce 4000", "all_reduce 8000", "all_reduce 12000", "all_gather 0"));
  EXPECT_EQ(reader.metadata().at("source.nccl"), "recording");
  EXPECT_THAT(reader.metadata().at("source.nccl.problem"), testing::HasSubstr("NVTX ranges"));
}

}  // namespace
}  // namespace lockstep

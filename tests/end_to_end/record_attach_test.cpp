// Speaking to a running job (--attach), ring mode and hangs, with programs/nvtx_steps.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/end_to_end/mount.h"
#include "tests/end_to_end/running_job.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using end_to_end::binary;
using end_to_end::eventually;
using end_to_end::Outcome;
using end_to_end::record;
using end_to_end::RecordedRun;
using end_to_end::RunningJob;
using end_to_end::shell;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kSteps = end_to_end::program("nvtx_steps");
std::vector<std::int64_t> step_numbers(const trace::Reader& reader) {
  std::vector<trace::Step> events;
  EXPECT_TRUE(reader.read({}, events).ok());
  std::vector<std::int64_t> numbers;
  for (const trace::Step& step : events) numbers.push_back(step.number);
  return numbers;
}

std::string metadata(const trace::Reader& reader, const std::string& key) {
  const auto found = reader.metadata().find(key);
  return found == reader.metadata().end() ? "" : found->second;
}

// --- attaching ---

TEST(Attach, StopEndsTheRecordingAndStatusSaysSo) {
  RunningJob job;
  job.start_steps(6, 3);
  ASSERT_TRUE(job.waits());
  const Outcome status = job.attach("status");
  EXPECT_EQ(status.exit_code, 0) << status.standard_error;
  EXPECT_THAT(status.standard_output, HasSubstr("rank-0"));
  EXPECT_THAT(status.standard_output, HasSubstr("yes"));
  EXPECT_THAT(status.standard_output, testing::ContainsRegex("rank-0 +[0-9]+ +2 ")) << "the step it is in";
  const Outcome stop = job.attach("stop");
  EXPECT_EQ(stop.exit_code, 0);
  EXPECT_THAT(stop.standard_output, HasSubstr("no: stopped by lockstep record --attach"));
  const Outcome outcome = job.end();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.standard_output, HasSubstr("done"));
  const trace::Reader reader = job.run.open();
  EXPECT_THAT(step_numbers(reader), ElementsAre(0, 1, 2));
  // What was open when it was stopped is whole.
  EXPECT_THAT(end_to_end::range_names(reader), Contains("epoch"));
  EXPECT_THAT(end_to_end::unfinished_names(reader), IsEmpty());
  EXPECT_EQ(end_to_end::find_nesting_error(reader), "");
  EXPECT_FALSE(fs::exists(job.run.run_path() + "/control"));
}

TEST(Attach, StartBeginsIt) {
  RunningJob job;
  job.start_steps(6, 3, {"--steps", "100:110"});
  ASSERT_TRUE(job.waits());
  EXPECT_THAT(job.attach("status").standard_output, HasSubstr("no: outside --steps 100:110"));
  EXPECT_EQ(job.attach("start").exit_code, 0);
  job.let_go();
  EXPECT_EQ(job.job->finish().exit_code, 0);
  EXPECT_THAT(step_numbers(job.run.open()), ElementsAre(3, 4, 5));
}

TEST(Attach, NobodyToSpeakToIsAnError) {
  RecordedRun run;
  record(run, {kSteps, "1"}, {"RANK=0"});
  const auto attach = [](const std::string& folder, const std::string& request) {
    return end_to_end::run({binary("lockstep"), "record", "--attach", folder, request});
  };
  EXPECT_EQ(attach(run.run_path(), "status").exit_code, 1);
  EXPECT_THAT(attach(run.run_path(), "status").standard_error, HasSubstr("no process of this run"));
  EXPECT_THAT(attach(run.folder / "nothing", "stop").standard_error, HasSubstr("no such run folder"));
  EXPECT_EQ(attach(run.run_path(), "restart").exit_code, 2);
  EXPECT_THAT(attach(run.run_path(), "restart").standard_error, HasSubstr("start, stop, snapshot"));
  EXPECT_THAT(end_to_end::run({binary("lockstep"), "record", "--attach", run.run_path()}).standard_error,
              HasSubstr(run.run_path() + ": say one of"));
  const Outcome command =
      end_to_end::run({binary("lockstep"), "record", "--attach", run.run_path(), "status", "--", "true"});
  EXPECT_EQ(command.exit_code, 2);
  EXPECT_THAT(command.standard_error,
              HasSubstr("takes one request (start, stop, snapshot or status) and no"));
}

TEST(Attach, AJobThatLeavesItsFolderStillAnswers) {
  RunningJob job;
  job.start({}, {kSteps, "6", "chdir", "wait=3:" + job.go}, {"RANK=0"});
  ASSERT_TRUE(job.waits());
  EXPECT_EQ(job.attach("status").exit_code, 0);
  job.let_go();
  EXPECT_EQ(job.job->finish().exit_code, 0);
}

TEST(Attach, AJobThatClosesItsDescriptorsIsUnharmed) {
  RecordedRun run;
  record(run, {kSteps, "6", "close"}, {"RANK=0"});
  EXPECT_EQ(run.outcome.exit_code, 0);
  EXPECT_EQ(run.outcome.standard_output, "done\n");
  EXPECT_THAT(end_to_end::mark_names(run.open()), Contains("before closing"));
}

// What was asked for is done; that nobody could be told of it is an error, and the job hears of none of that.
TEST(Attach, AnAnswerThatCannotBeWrittenIsAnErrorAndTheJobGoesOn) {
  RunningJob job;
  job.start_steps(6, 3);
  ASSERT_TRUE(job.waits());
  ASSERT_TRUE(job.has("control/rank-0"));
  const auto attach = [&](const std::string& words) {
    return shell(fmt::format("{} record --attach {}", binary("lockstep"), words));
  };
  for (const char* request : {"status", "stop"}) {
    const std::string words = job.run.run_path() + " " + request + " ";
    for (const char* stream : {">/dev/full", ">&-"}) {
      const Outcome outcome = attach(words + stream);
      EXPECT_EQ(outcome.exit_code, 1) << words << stream << outcome.standard_error;
      EXPECT_THAT(outcome.standard_error, HasSubstr("cannot write to stdout")) << words << stream;
      for (const char* and_errors : {" 2>/dev/full", " 2>&-", " <&- 2>&-"})
        EXPECT_EQ(attach(words + stream + and_errors).exit_code, 1) << words << stream << and_errors;
    }
    for (const char* errors : {"2>/dev/full", "2>&-"})
      EXPECT_EQ(attach(words + errors).exit_code, 0) << words << errors;
  }
  for (const char* streams : {" 2>/dev/full", " >&- 2>&-", " <&- >&- 2>&-"}) {
    EXPECT_EQ(attach(job.outputs / "nothing" + " status" + streams).exit_code, 1) << streams;
    EXPECT_EQ(attach(job.run.run_path() + " restart" + streams).exit_code, 2) << streams;
  }
  EXPECT_THAT(job.attach("status").standard_output, HasSubstr("no: stopped by lockstep record --attach"));
  const Outcome outcome = job.end();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  EXPECT_THAT(outcome.standard_output, HasSubstr("done"));
  EXPECT_THAT(step_numbers(job.run.open()), ElementsAre(0, 1, 2));
}

TEST(Attach, AForkedChildHasItsOwnSocketOrNone) {
  RunningJob job;
  job.start({}, {kSteps, "6", "fork", "wait=3:" + job.go}, {"RANK=0"});
  ASSERT_TRUE(job.waits());
  // The child is gone: the parent answers, alone.
  const Outcome status = job.attach("status");
  EXPECT_EQ(status.exit_code, 0);
  EXPECT_THAT(status.standard_output, HasSubstr("rank-0"));
  EXPECT_THAT(status.standard_output, Not(HasSubstr("proc-")));
  job.let_go();
  EXPECT_EQ(job.job->finish().exit_code, 0);
}

// --- ring mode ---

TEST(Ring, ASlowStepIsWrittenWithWhatWentBefore) {
  RunningJob job;
  job.start({"--ring", "60s", "--ring-factor", "5"},
            {kSteps, "14", "each=30", "slow=10:2000", "wait=12:" + job.go}, {"RANK=0"});
  ASSERT_TRUE(job.waits());
  // Step 11 has begun and told how long step 10 was: it is on disk while the job still runs.
  ASSERT_TRUE(eventually([&] {
    const Result<trace::Reader> reader = trace::Reader::open(job.run.run_path() + "/rank-0.lst");
    return reader.ok() && reader.value().count(trace::EventKind::step) > 0;
  }));
  job.let_go();
  EXPECT_EQ(job.job->finish().exit_code, 0);
  const trace::Reader reader = job.run.open();
  EXPECT_TRUE(reader.complete());
  // On a busy machine others may have been slow too.
  std::vector<std::string> causes;
  for (int i = 1; i < 20; ++i) causes.push_back(metadata(reader, "control.saved." + std::to_string(i)));
  EXPECT_THAT(causes, Contains(testing::StartsWith("step 10 took ")));
  std::vector<std::int64_t> numbers = step_numbers(reader);
  EXPECT_THAT(numbers, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13));
  EXPECT_EQ(end_to_end::find_nesting_error(reader), "");
  ASSERT_EQ(reader.groups().size(), 1U);
}

TEST(Ring, WhatWasForgottenIsSaid) {
  RecordedRun run;
  record(run, {kSteps, "12", "each=400"}, {"RANK=0"}, {"--ring", "1s"});
  EXPECT_EQ(run.outcome.exit_code, 0);
  const trace::Reader reader = run.open();
  const std::vector<std::int64_t> numbers = step_numbers(reader);
  EXPECT_THAT(numbers, Contains(11));
  EXPECT_THAT(numbers, Not(Contains(0)));
  std::vector<trace::Drop> notes;
  ASSERT_TRUE(reader.read({}, notes).ok());
  ASSERT_FALSE(notes.empty());
  EXPECT_EQ(notes[0].count, 0U);
  EXPECT_THAT(reader.string(notes[0].reason), HasSubstr("--ring"));
  EXPECT_THAT(reader.lanes(), Contains(testing::Field(&trace::Lane::name, "trainer"))) << "tables are kept";
}

TEST(Ring, ASnapshotIsWrittenWhenAskedFor) {
  RunningJob job;
  job.start_steps(6, 3, {"--ring", "60s"});
  ASSERT_TRUE(job.waits());
  const auto steps_on_disk = [&] {
    const Result<trace::Reader> reader = trace::Reader::open(job.run.run_path() + "/rank-0.lst");
    return reader.ok() ? reader.value().count(trace::EventKind::step) : 0;
  };
  EXPECT_THAT(job.attach("status").exit_code, 0);
  EXPECT_EQ(steps_on_disk(), 0U);
  const Outcome snapshot = job.attach("snapshot");
  EXPECT_EQ(snapshot.exit_code, 0);
  EXPECT_THAT(snapshot.standard_output, testing::ContainsRegex("rank-0 .* written: [0-9.]+ "));
  EXPECT_EQ(steps_on_disk(), 3U);
  // What is open is there too.
  EXPECT_THAT(end_to_end::unfinished_names(job.run.open("rank-0.lst")), Contains("epoch"));
  job.let_go();
  EXPECT_EQ(job.job->finish().exit_code, 0);
  EXPECT_THAT(step_numbers(job.run.open()), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Ring, ASnapshotOfNothingSaysSo) {
  RunningJob job;
  job.start_steps(6, 3, {"--ring", "60s", "--steps", "100:110"});
  ASSERT_TRUE(job.waits());
  const Outcome snapshot = job.attach("snapshot");
  EXPECT_EQ(snapshot.exit_code, 0);
  EXPECT_THAT(snapshot.standard_output, testing::ContainsRegex("rank-0 .* nothing was held"));
  EXPECT_EQ(job.end().exit_code, 0);
}

// Full before there is anything to write: a slow step has the ring written too, and on a busy machine any may
// be slow.
TEST(Ring, ASnapshotThatTheDiskDoesNotTakeSaysSo) {
  RunningJob job;
  const end_to_end::Mount disk(job.run.run_path(), 0, "size=256k");
  if (!disk.mounted()) GTEST_SKIP() << "mounting a small file system is not allowed here";
  const std::string end = job.outputs / "end";
  job.start({"--ring", "60s"}, {kSteps, "600", "wait=5:" + job.go, "hang=590:0:" + end}, {"RANK=0"});
  ASSERT_TRUE(job.waits());
  EXPECT_THAT(job.attach("status").standard_output, Not(HasSubstr("takes no more")));
  std::ofstream(job.run.run_path() + "/filler") << std::string(std::size_t{512} << 10U, 'x');
  job.let_go();
  ASSERT_TRUE(
      eventually([&] { return job.attach("status").standard_output.find(" 590 ") != std::string::npos; }));
  const Outcome snapshot = job.attach("snapshot");
  EXPECT_THAT(snapshot.standard_output + snapshot.standard_error, HasSubstr("its file takes no more"));
  EXPECT_EQ(snapshot.exit_code, 1);
  std::ofstream(end) << "go";
  EXPECT_EQ(job.job->finish().exit_code, 0) << "the job's";
}

// --- hangs ---

TEST(HangTimeout, TheReportNamesTheCollectiveAndWhoNeverCame) {
  RunningJob job;
  const std::string ranks = fmt::format(
      "for r in 0 1 2; do RANK=$r WORLD_SIZE=3 LOCAL_RANK=$r {} 6 each=10 hang=4:1:{} & done; wait", kSteps,
      job.go);
  job.start({"--hang-timeout", "3s"}, {"/bin/sh", "-c", ranks});
  ASSERT_TRUE(eventually([&] { return job.job->error_output().find("the job hangs") != std::string::npos; }));
  // While it hangs.
  const Outcome outcome = end_to_end::run({binary("lockstep"), "analyze", job.run.run_path(), "--json", "-"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  const nlohmann::json report = nlohmann::json::parse(outcome.standard_output);
  const nlohmann::json finding = report.at("findings").at(0);
  EXPECT_EQ(finding.at("code"), "hang");
  EXPECT_EQ(finding.at("title"),
            "the job hung in all_reduce gradients (group data parallel, number 4): rank 1 never came");
  EXPECT_THAT(finding.at("evidence").at(0).get<std::string>(), HasSubstr("ranks 0, 2 wait in it"));
  EXPECT_THAT(finding.at("evidence").at(1).get<std::string>(),
              HasSubstr("waiting for a batch that never comes"));
  for (const char* name : {"hang-rank-0.json", "hang-rank-1.json", "hang-rank-2.json"}) {
    std::ifstream file(job.run.run_path() + "/" + name);
    const nlohmann::json document = nlohmann::json::parse(file);
    EXPECT_EQ(document.at("format"), "lockstep.hang/1");
    EXPECT_EQ(document.at("step"), 4);
    EXPECT_FALSE(document.at("threads").empty());
  }
  // It goes on as if nothing had been.
  job.let_go();
  EXPECT_EQ(job.job->finish().exit_code, 0);
  EXPECT_THAT(step_numbers(job.run.open("rank-1.lst")), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(HangTimeout, PythonsStacksAreThereWherePythonLetsThem) {
  const Outcome probe = end_to_end::run(
      {LOCKSTEP_PYTHON, "-c", "import sys; sys.exit(0 if sys.version_info < (3, 13) else 7)"});
  if (probe.exit_code != 0) GTEST_SKIP() << "no Python that shows its stacks";
  RunningJob job;
  const std::string script = job.run.folder / "train.py";
  std::ofstream(script) << fmt::format(R"(import ctypes, os, threading, time
library = ctypes.CDLL('{}/libnvtx_for_python.so')
def prefetch():
    while not os.path.exists('{}'): time.sleep(0.01)
def next_batch():
    prefetch()
thread = threading.Thread(target=prefetch)
thread.start()
for number in range(3):
    library.step(ctypes.c_int64(number))
next_batch()
print('done')
)",
                                       LOCKSTEP_PROGRAMS_DIR, job.go);
  std::vector<std::string> environment = end_to_end::sanitizer_for_others();
  environment.emplace_back("RANK=0");
  job.start({"--hang-timeout", "2s"}, {LOCKSTEP_PYTHON, script}, environment);
  ASSERT_TRUE(eventually([&] { return job.job->error_output().find("the job hangs") != std::string::npos; }));
  std::ifstream file(job.run.run_path() + "/hang-rank-0.json");
  const nlohmann::json document = nlohmann::json::parse(file);
  if (document.contains("python")) {  // a statically linked one may hide what we call
    EXPECT_THAT(document.at("python").get<std::string>(), HasSubstr("in next_batch"));
    EXPECT_THAT(document.at("doing").get<std::string>(), HasSubstr("train.py"));
  }
  const Outcome outcome = end_to_end::run({binary("lockstep"), "analyze", job.run.run_path(), "--json", "-"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  EXPECT_THAT(
      nlohmann::json::parse(outcome.standard_output).at("findings").at(0).at("title").get<std::string>(),
      HasSubstr("the job hung: rank 0 ended no step"));
  job.let_go();
  const Outcome ended = job.job->finish();
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.standard_output, "done\n");
}

TEST(HangTimeout, AJobThatOnlyPausesHasNone) {
  RecordedRun run;
  record(run, {kSteps, "3", "each=300"}, {"RANK=0"}, {"--hang-timeout", "60s"});
  EXPECT_EQ(run.outcome.exit_code, 0);
  EXPECT_THAT(run.outcome.standard_error, Not(HasSubstr("hangs")));
  EXPECT_FALSE(fs::exists(run.run_path() + "/hang-rank-0.json"));
}

}  // namespace
}  // namespace lockstep

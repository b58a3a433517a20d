// What of a job is recorded: --steps, --delay, --duration, --sources and --max-size, from
// programs/nvtx_steps.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/end_to_end/recorded_run.h"

namespace lockstep {
namespace {

using end_to_end::binary;
using end_to_end::Outcome;
using end_to_end::record;
using end_to_end::RecordedRun;
using end_to_end::shell;
using end_to_end::TemporaryFolder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::vector<std::string> steps(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{end_to_end::program("nvtx_steps")};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

std::vector<std::int64_t> step_numbers(const trace::Reader& reader) {
  std::vector<trace::Step> events;
  EXPECT_TRUE(reader.read({}, events).ok());
  std::vector<std::int64_t> numbers;
  for (const trace::Step& step : events) numbers.push_back(step.number);
  return numbers;
}

// Why nothing was recorded: drops of count 0.
std::vector<trace::Drop> absences(const trace::Reader& reader) {
  std::vector<trace::Drop> events;
  EXPECT_TRUE(reader.read({}, events).ok());
  std::erase_if(events, [](const trace::Drop& drop) { return drop.count != 0; });
  return events;
}

TEST(RecordSteps, ExactlyTheChosenOnesAreInTheFile) {
  RecordedRun run;
  record(run, steps({"9"}), {"RANK=0", "WORLD_SIZE=1"}, {"--steps", "3:5"});
  EXPECT_EQ(run.outcome.exit_code, 0);
  EXPECT_EQ(run.outcome.standard_output, "done\n");
  const trace::Reader reader = run.open();
  EXPECT_TRUE(reader.complete());
  EXPECT_THAT(step_numbers(reader), ElementsAre(3, 4, 5));
  EXPECT_THAT(end_to_end::mark_names(reader), ElementsAre("in 3", "in 4", "in 5"));
  std::vector<std::string> names = end_to_end::range_names(reader);
  std::sort(names.begin(), names.end());
  // "epoch" was begun before, and "from 1" too; "from 4" ended after the last step, and is whole.
  EXPECT_THAT(names, ElementsAre("forward", "forward", "forward", "from 4", "step 3", "step 4", "step 5"));
  EXPECT_THAT(end_to_end::unfinished_names(reader), IsEmpty());
  EXPECT_EQ(end_to_end::find_nesting_error(reader), "");
  EXPECT_THAT(end_to_end::drops(reader), Not(Contains(testing::Pair(testing::_, testing::Gt(0U)))));

  // What was declared before the first of them is known.
  ASSERT_THAT(reader.groups(), SizeIs(1));
  EXPECT_EQ(reader.groups()[0].name, "data parallel");
  std::vector<trace::Collective> collectives;
  ASSERT_TRUE(reader.read({}, collectives).ok());
  std::vector<std::int64_t> sequences;
  for (const trace::Collective& collective : collectives) {
    EXPECT_EQ(collective.group, 0U);
    sequences.push_back(collective.sequence);
  }
  EXPECT_THAT(sequences, testing::UnorderedElementsAre(3, 4, 5)) << "each on a thread of its own";
  EXPECT_THAT(reader.lanes(), Contains(testing::Field(&trace::Lane::name, "trainer")));

  // The file says when nobody listened, and it fits the steps.
  const std::vector<trace::Drop> notes = absences(reader);
  ASSERT_THAT(notes, SizeIs(2));
  EXPECT_EQ(reader.string(notes[0].reason), "not recorded: outside --steps 3:5");
  std::vector<trace::Step> events;
  ASSERT_TRUE(reader.read({}, events).ok());
  EXPECT_LE(notes[0].begin, notes[0].end);
  EXPECT_LE(notes[0].end, events.front().begin);
  EXPECT_GE(notes[1].begin, events.back().end);
  EXPECT_THAT(run.manifest().at("ranks").at(0).at("not_recorded").at(0), HasSubstr("--steps 3:5"));
  EXPECT_THAT(run.outcome.standard_error, Not(HasSubstr("lost")));
}

TEST(RecordSteps, OpenEndedRangesAndSingleSteps) {
  const std::map<std::string, std::vector<std::int64_t>> expected{
      {"2", {2}}, {"3:", {3, 4, 5}}, {":1", {0, 1}}, {"5:9", {5}}, {"7:9", {}}};
  for (const auto& [text, numbers] : expected) {
    RecordedRun run;
    record(run, steps({"6"}), {"RANK=0"}, {"--steps", text});
    EXPECT_EQ(run.outcome.exit_code, 0);
    EXPECT_EQ(step_numbers(run.open()), numbers) << text;
  }
}

TEST(RecordSteps, AnalyzeTakesTheRestForNothingAndNotForIdleTime) {
  RecordedRun run;
  record(run, steps({"8", "each=20"}), {"RANK=0", "WORLD_SIZE=1"}, {"--steps", "3:5"});
  const Outcome outcome = shell(fmt::format("{} analyze {} --json -", binary("lockstep"), run.run_path()));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  const nlohmann::json report = nlohmann::json::parse(outcome.standard_output);
  EXPECT_EQ(report.at("run").at("steps"), nlohmann::json::parse("[3,4,5]"));
  for (const nlohmann::json& warning : report.at("warnings")) EXPECT_NE(warning.at("code"), "events_dropped");
}

TEST(RecordTime, NothingBeforeTheDelay) {
  RecordedRun run;
  record(run, steps({"4", "each=300"}), {"RANK=0"}, {"--delay", "500ms"});
  const trace::Reader reader = run.open();
  const std::vector<std::int64_t> numbers = step_numbers(reader);
  // The first begins at once and the last well after the delay, however slow the machine is.
  EXPECT_THAT(numbers, Not(Contains(0)));
  EXPECT_THAT(numbers, Contains(3));
  ASSERT_FALSE(absences(reader).empty());
  const trace::Drop note = absences(reader).front();
  EXPECT_THAT(reader.string(note.reason), HasSubstr("--delay"));
}

TEST(RecordTime, NothingAfterTheDuration) {
  RecordedRun run;
  record(run, steps({"6", "each=300"}), {"RANK=0"}, {"--duration", "600ms"});
  const trace::Reader reader = run.open();
  EXPECT_THAT(step_numbers(reader), Not(Contains(5)));
  ASSERT_THAT(absences(reader), SizeIs(1));
  EXPECT_GT(absences(reader).front().end, absences(reader).front().begin);
}

TEST(RecordSources, OnlyThoseOfTheList) {
  RecordedRun run;
  record(run, steps({"3"}), {"RANK=0"}, {"--sources", "cupti,pytorch"});
  EXPECT_EQ(run.outcome.exit_code, 0);
  EXPECT_THAT(run.files(), IsEmpty());
  EXPECT_THAT(run.outcome.standard_error, HasSubstr("--sources cupti,pytorch leaves out"));
  RecordedRun both;
  record(both, steps({"3"}), {"RANK=0"}, {"--sources", "nvtx"});
  EXPECT_THAT(step_numbers(both.open()), ElementsAre(0, 1, 2));
}

TEST(RecordSize, EndsTheRecordingNotTheJob) {
  RecordedRun run;
  // Many short steps with names of their own: more than a megabyte.
  record(run, steps({"30000"}), {"RANK=0"}, {"--max-size", "1", "--buffer-size", "256"});
  EXPECT_EQ(run.outcome.exit_code, 0);
  EXPECT_EQ(run.outcome.standard_output, "done\n");
  EXPECT_THAT(run.outcome.standard_error, HasSubstr("recording ended early: the file reached --max-size"));
  const trace::Reader reader = run.open();
  EXPECT_TRUE(reader.complete());
  const std::vector<std::int64_t> numbers = step_numbers(reader);
  ASSERT_FALSE(numbers.empty());
  EXPECT_EQ(numbers.front(), 0);
  EXPECT_LT(numbers.back(), 29999);
  EXPECT_THAT(run.manifest().at("ranks").at(0).at("ended_early"), HasSubstr("--max-size"));
}

TEST(RecordPlan, WrongValuesAreNamed) {
  const std::map<std::string, std::string> cases{
      {"--steps 5:3", "--steps 5:3"},
      {"--steps x", "--steps x"},
      {"--steps -1", "--steps -1"},
      {"--steps ''", "--steps "},
      {"--delay -1", "--delay"},
      {"--delay 0", "--delay 0"},
      {"--duration soon", "--duration soon"},
      {"--sources nvtx,cuda", "'cuda'"},
      {"--sources ''", "there are nvtx, cupti"},
      {"--max-size 0", "--max-size 0"},
      {"--max-size 1.5", "--max-size 1.5"},
      {"--max-size 5XB", "--max-size 5XB: give a size"},
      {"--buffer-size 0", "--buffer-size 0: give a size from 64KiB"},
      {"--cuda-api some", "--cuda-api some: give launches or all"},
      {"--python-hook maybe", "--python-hook maybe: give one of "},
      {"--output", "--output needs a value: The run folder"},
      {"-o a -o b", "--output is given twice: give it once"},
      {"--steps 1:2 --steps 3:4 --steps 5", "--steps is given 3 times: give it once"},
      {"--ring 1d", "--ring 1d"},
      {"--ring 10s --ring-factor 1", "--ring-factor 1"},
      {"--ring-factor 2", "without --ring"},
      {"--hang-timeout never",
       "--hang-timeout never: give a time above 0, as in 30, 30s, 500ms, 2.5m or 1h, or off"},
      {"--hang-timeout 0", "--hang-timeout 0"}};
  for (const auto& [arguments, message] : cases) {
    const TemporaryFolder folder;
    const Outcome outcome = shell(
        fmt::format("cd {} && {} record {} -- true", folder.path().string(), binary("lockstep"), arguments));
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_THAT(outcome.standard_error, HasSubstr(message)) << arguments;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << arguments;
  }
}

TEST(RecordPlan, BlanksInListsAndUnitsOfSizesAreTaken) {
  RecordedRun run;
  record(run, steps({"3"}), {"RANK=0"},
         {"--sources", "nvtx, cpu", "--max-size", "1GB", "--buffer-size", "16MiB", "--steps", "1:"});
  EXPECT_EQ(run.outcome.exit_code, 0) << run.outcome.standard_error;
  EXPECT_THAT(step_numbers(run.open()), ElementsAre(1, 2));
  EXPECT_EQ(run.open().metadata().at("source.cpu"), "recording");
  EXPECT_EQ(run.manifest().at("sources").at("cupti").at("state"), "not asked for");
}

TEST(RecordVariables, AreTheDefaultsOfTheirFlags) {
  const std::vector<std::string> variables{"RANK=0", "LOCKSTEP_STEPS=1:2", "LOCKSTEP_MAX_SIZE=5000000",
                                           "LOCKSTEP_CPU=0"};
  RecordedRun run;
  record(run, steps({"4"}), variables);
  EXPECT_THAT(step_numbers(run.open()), ElementsAre(1, 2));
  EXPECT_EQ(run.open().metadata().at("LOCKSTEP_MAX_SIZE"), "5000000") << "bytes";
  RecordedRun flagged;
  record(flagged, steps({"4"}), variables, {"--steps", "3", "--max-size", "7"});
  EXPECT_THAT(step_numbers(flagged.open()), ElementsAre(3));
  EXPECT_EQ(flagged.open().metadata().at("LOCKSTEP_MAX_SIZE"), "7000000");
}

TEST(RecordVariables, HangsAreLookedForUnlessThatIsSwitchedOff) {
  RecordedRun by_default;
  record(by_default, steps({"2"}), {"RANK=0"});
  EXPECT_EQ(by_default.open().metadata().at("LOCKSTEP_HANG_TIMEOUT"), "300");
  RecordedRun off;
  record(off, steps({"2"}), {"RANK=0"}, {"--hang-timeout", "off"});
  EXPECT_EQ(off.open().metadata().count("LOCKSTEP_HANG_TIMEOUT"), 0U);
  RecordedRun off_by_variable;
  record(off_by_variable, steps({"2"}), {"RANK=0", "LOCKSTEP_HANG_TIMEOUT=off"});
  EXPECT_EQ(off_by_variable.open().metadata().count("LOCKSTEP_HANG_TIMEOUT"), 0U);
}

TEST(RecordVariables, WrongOnesAreNamed) {
  for (const char* variable :
       {"LOCKSTEP_STEPS=5:3", "LOCKSTEP_DELAY=soon", "LOCKSTEP_DURATION=0", "LOCKSTEP_RING=1d",
        "LOCKSTEP_HANG_TIMEOUT=x", "LOCKSTEP_MAX_SIZE=much", "LOCKSTEP_BUFFER_SIZE=0",
        "LOCKSTEP_SOURCES=bogus", "LOCKSTEP_CPU=yes", "LOCKSTEP_CUDA_API=some", "LOCKSTEP_RING_MEMORY=x"}) {
    RecordedRun run;
    record(run, {"true"}, {variable});
    EXPECT_EQ(run.outcome.exit_code, 2) << variable;
    EXPECT_THAT(run.outcome.standard_error, HasSubstr(std::string("lockstep record: ") + variable + ": "));
    EXPECT_FALSE(std::filesystem::exists(run.run_path())) << variable;
  }
}

TEST(RecordSteps, AWindowThatTheJobNeverCameToSaysWhatThereWas) {
  RecordedRun run;
  record(run, steps({"6"}), {"RANK=0", "WORLD_SIZE=1"}, {"--steps", "100:110"});
  EXPECT_EQ(run.outcome.exit_code, 0);
  EXPECT_THAT(run.outcome.standard_error, HasSubstr("but nothing happened in --steps 100:110"));
  EXPECT_THAT(run.outcome.standard_error, HasSubstr("the job had steps 0 to 5"));
  EXPECT_THAT(run.outcome.standard_error, Not(HasSubstr("next: lockstep analyze")));
  EXPECT_EQ(run.manifest().at("ranks").at(0).at("steps_seen"), nlohmann::json::parse("[0, 5]"));
}

TEST(RecordSteps, StrayEventsDoNotHideThatNoStepWasCaught) {
  RecordedRun run;
  record(run, steps({"6"}), {"RANK=0", "WORLD_SIZE=1"}, {"--cpu", "--steps", "100:110"});
  EXPECT_EQ(run.outcome.exit_code, 0);
  EXPECT_GT(run.manifest().at("events"), 0) << "counters of the host are events";
  std::string said = run.outcome.standard_error;
  for (std::size_t at = 0; (at = said.find("\n  ", at)) != std::string::npos;) said.replace(at, 3, " ");
  EXPECT_THAT(said, HasSubstr("but no whole step and no collective lies in --steps 100:110"));
  EXPECT_THAT(said, HasSubstr("the job had steps 0 to 5"));
  EXPECT_THAT(said, Not(HasSubstr("next: lockstep analyze")));
}

TEST(RecordSteps, ACommandThatFailsAtOnceIsTheReasonForNothing) {
  RecordedRun run;
  record(run, {"sh", "-c", "exit 2"}, {}, {"--steps", "10:12"});
  EXPECT_EQ(run.outcome.exit_code, 2);
  EXPECT_THAT(run.outcome.standard_error,
              HasSubstr("the reason may be: the command failed with exit code 2"));
}

}  // namespace
}  // namespace lockstep

// The parts of control that need no job: plans, step times, notes of absence, the gate and its sources.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/temporary_folder.h"
#include "trace/reader.h"
#include "tracer/inject/control/absences.h"
#include "tracer/inject/control/gate.h"
#include "tracer/inject/control/step_times.h"
#include "tracer/inject/control/steps.h"
#include "tracer/inject/core/source.h"
#include "tracer/inject/core/tracer.h"
#include "tracer/protocol/plan.h"

namespace lockstep::tracer::control {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kSecond = 1'000'000'000;

Plan plan_of(const std::map<std::string, std::string>& variables) {
  return plan_from([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Durations, AreReadExactly) {
  EXPECT_EQ(parse_duration("30"), 30 * kSecond);
  EXPECT_EQ(parse_duration("30s"), 30 * kSecond);
  EXPECT_EQ(parse_duration("2.5s"), 2'500'000'000);
  EXPECT_EQ(parse_duration("0.000000001"), 1);
  EXPECT_EQ(parse_duration("500ms"), kSecond / 2);
  EXPECT_EQ(parse_duration("2.5m"), 150 * kSecond);
  EXPECT_EQ(parse_duration("1h"), 3600 * kSecond);
  EXPECT_EQ(parse_duration("0"), 0);
  for (const char* text : {"", "s", ".5", "5.", "-1", "+1", "1d", "1e3", " 1", "1 s", "1.5.5", "nan",
                           "99999999h", "9999999999999999999", "0.0000000001"})
    EXPECT_FALSE(parse_duration(text).has_value()) << text;
  for (const std::int64_t time : {std::int64_t{1}, kSecond, 30 * kSecond, std::int64_t{2'500'000'000}})
    EXPECT_EQ(parse_duration(to_seconds(time)), time);
}

TEST(Steps, AreReadAsAnalyzeReadsThem) {
  const auto range = [](const char* text) {
    const std::optional<StepRange> steps = parse_steps(text);
    return steps.has_value() ? to_string(*steps) : "none";
  };
  EXPECT_EQ(range("100:110"), "100:110");
  EXPECT_EQ(range("7"), "7");
  EXPECT_EQ(range("7:7"), "7");
  EXPECT_EQ(range("7:"), "7:");
  EXPECT_EQ(range(":7"), ":7");
  for (const char* text :
       {"", ":", "x", "1:x", "x:1", "2:1", "1:2:3", "1-2", "1.5", "-1", "-3:2", ":-1", "-2:"})
    EXPECT_EQ(range(text), "none") << text;
}

TEST(Plans, SurviveTheEnvironment) {
  Plan plan;
  plan.steps = StepRange{100, 110};
  plan.start_realtime = 1'700'000'000'123'456'789;
  plan.delay_ns = kSecond / 2;
  plan.duration_ns = 90 * kSecond;
  plan.max_bytes = 5'000'000;
  plan.ring_ns = 30 * kSecond;
  plan.ring_factor = 2.5;
  plan.hang_timeout_ns = 600 * kSecond;
  std::map<std::string, std::string> variables;
  for (const auto& [name, value] : to_environment(plan)) variables[name] = value;
  const Plan read = plan_of(variables);
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_EQ(to_environment(read), to_environment(plan));
  EXPECT_EQ(read.ring_factor, 2.5);
  EXPECT_EQ(read.ring_memory, kDefaultRingMemory);
  EXPECT_TRUE(read.needs_steps());
  // An empty plan overrules what stood there before.
  for (const auto& [name, value] : to_environment(Plan{})) variables[name] = value;
  EXPECT_FALSE(plan_of(variables).needs_steps());
  EXPECT_EQ(plan_of(variables).max_bytes, 0U);
}

TEST(Plans, WhatIsNotUnderstoodIsNamedAndIgnored) {
  const Plan plan =
      plan_of({{"LOCKSTEP_STEPS", "many"}, {"LOCKSTEP_RING", "30"}, {"LOCKSTEP_RING_FACTOR", "0.5"}});
  EXPECT_FALSE(plan.steps.has_value());
  EXPECT_EQ(plan.ring_ns, 30 * kSecond);
  EXPECT_EQ(plan.ring_factor, 2);
  EXPECT_THAT(plan.problems,
              ElementsAre(HasSubstr("LOCKSTEP_STEPS=many"), HasSubstr("LOCKSTEP_RING_FACTOR")));
}

TEST(Sizes, AreReadWithTheirUnits) {
  constexpr std::uint64_t kMega = 1'000'000;
  EXPECT_EQ(parse_size("5", kMega), 5 * kMega);
  EXPECT_EQ(parse_size("5", 1), 5U);
  EXPECT_EQ(parse_size("512MB", 1), 512 * kMega);
  EXPECT_EQ(parse_size("1GB", 1), 1000 * kMega);
  EXPECT_EQ(parse_size("1.5 GB", 1), 1500 * kMega);
  EXPECT_EQ(parse_size("64MiB", 1), std::uint64_t{64} << 20U);
  EXPECT_EQ(parse_size("2TiB", 1), std::uint64_t{2} << 40U);
  EXPECT_EQ(parse_size("4G", 1), 4000 * kMega);
  for (const char* text : {"", "0", "0MB", "-1", "1.5", "1.5.5MB", "MB", "1 Q", "1Mb", "many", "1e3", ".5GB",
                           "5.GB", "9999999999TB", "99999999999999999999"})
    EXPECT_FALSE(parse_size(text, kMega).has_value()) << text;
}

TEST(Sources, UnknownOnesAreFound) {
  EXPECT_FALSE(unknown_source("nvtx").has_value());
  EXPECT_FALSE(unknown_source("nvtx,cupti,nccl,pytorch,cpu").has_value());
  EXPECT_EQ(unknown_source("nvtx,cuda"), "cuda");
  EXPECT_EQ(unknown_source("nvtx,"), "");
  EXPECT_FALSE(unknown_source(" nvtx, cpu ,nvml").has_value());
  EXPECT_EQ(unknown_source("nvtx, cu da"), "cu da");
  EXPECT_TRUE(names_source("nvtx, cpu", "cpu"));
  EXPECT_FALSE(names_source("nvtx, cpu", "cupti"));
  EXPECT_EQ(unknown_source(""), "");
}

TEST(StepTimes, ASlowStepIsKnownWhenTheNextBegins) {
  StepTimes times;
  trace::Nanoseconds now = 1000;
  const auto step = [&](std::int64_t number, std::int64_t took) {
    const bool slow = times.begin(number, now, 2);
    now += took;
    return slow;
  };
  // The first steps warm up; nothing is slow before there is a median.
  EXPECT_FALSE(step(0, 900));
  for (int i = 1; i <= 6; ++i) EXPECT_FALSE(step(i, 100));
  EXPECT_EQ(times.median(), 100);
  EXPECT_FALSE(step(7, 199));
  EXPECT_FALSE(step(8, 200)) << "7 took 1.99 times the median";
  EXPECT_TRUE(step(9, 100)) << "8 took twice the median";
  EXPECT_EQ(times.last_number(), 8);
  EXPECT_EQ(times.last_duration(), 200);
  EXPECT_FALSE(step(10, 100));
  // A clock that went back says nothing.
  now -= 5000;
  EXPECT_FALSE(step(11, 100));
}

class FileTest : public testing::Test {
 protected:
  std::string path() const { return folder_ / "a.lst"; }
  // "0-10 not recorded: …" of every note.
  std::vector<std::string> notes(trace::Writer& writer) {
    EXPECT_TRUE(writer.close().ok());
    const Result<trace::Reader> reader = trace::Reader::open(path());
    EXPECT_TRUE(reader.ok());
    std::vector<trace::Drop> drops;
    EXPECT_TRUE(reader.value().read({}, drops).ok());
    std::vector<std::string> texts;
    for (const trace::Drop& drop : drops) {
      EXPECT_EQ(drop.count, 0U);
      texts.push_back(std::to_string(drop.begin) + "-" + std::to_string(drop.end) + " " +
                      std::string(reader.value().string(drop.reason)));
    }
    return texts;
  }
  const test::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(FileTest, AbsencesStandInTheFileWhateverOrderTheyComeIn) {
  Result<trace::Writer> writer = trace::Writer::create(path().c_str());
  ASSERT_TRUE(writer.ok());
  Plan plan;
  plan.steps = StepRange{1, 2};
  Absences absences(writer.value(), plan, 100, kOutsideSteps);
  EXPECT_EQ(absences.first_opened(), trace::kUnknownTime);
  // Closed at 300, opened at 200, by two threads of which the later was read first.
  absences.changed(300, kOutsideSteps);
  absences.changed(200, 0);
  absences.settle(350, kOutsideSteps);
  EXPECT_EQ(absences.first_opened(), 200);
  absences.changed(400, kStopped | kOutsideSteps);  // closed already
  absences.changed(500, 0);
  absences.settle(550, 0);
  absences.changed(600, kStopped);
  absences.settle(650, kStopped);
  absences.finish(700);
  EXPECT_THAT(
      notes(writer.value()),
      ElementsAre("100-200 not recorded: outside --steps 1:2", "300-500 not recorded: outside --steps 1:2",
                  "600-700 not recorded: stopped by lockstep record --attach"));
}

TEST_F(FileTest, AChangeWhoseRecordWasLostIsNoticed) {
  Result<trace::Writer> writer = trace::Writer::create(path().c_str());
  ASSERT_TRUE(writer.ok());
  const Plan plan;
  Absences absences(writer.value(), plan, 100, 0);
  absences.settle(200, kFull);  // may still be on its way
  EXPECT_FALSE(absences.is_closed());
  absences.settle(300, kFull);
  EXPECT_TRUE(absences.is_closed());
  absences.finish(400);
  EXPECT_THAT(notes(writer.value()), ElementsAre("300-400 not recorded: --max-size is reached"));
}

// The step that is to be recorded is over between two drains: the gate is closed again when the record that
// it was opened comes, and the record that it was closed is still on its way.
TEST_F(FileTest, AChangeThatIsOnItsWayIsNotTakenForOneBefore) {
  Result<trace::Writer> writer = trace::Writer::create(path().c_str());
  ASSERT_TRUE(writer.ok());
  Plan plan;
  plan.steps = StepRange{1, 1};
  Absences absences(writer.value(), plan, 100, kOutsideSteps);
  absences.settle(200, 0);
  absences.changed(150, 0);
  absences.settle(300, kOutsideSteps);  // closed since 350
  EXPECT_FALSE(absences.is_closed());
  absences.changed(350, kOutsideSteps);
  absences.settle(400, kOutsideSteps);
  absences.finish(500);
  EXPECT_THAT(notes(writer.value()), ElementsAre("100-150 not recorded: outside --steps 1",
                                                 "350-500 not recorded: outside --steps 1"));
}

class Told final : public Source {
 public:
  const char* name() const noexcept override { return "told"; }
  void begin(SourceContext&) override {}
  void end_drain(trace::Nanoseconds) override {}
  void finish(trace::Nanoseconds) override {}
  void pause() noexcept override { paused.store(true), ++calls; }
  void resume() noexcept override { paused.store(false), ++calls; }
  std::atomic<bool> paused{false};
  std::atomic<int> calls{0};
};

TEST(Gate, SourcesAreToldOnceAChangeAndAgreeInTheEnd) {
  static Told source;
  Tracer::instance().add_source(source);
  EXPECT_TRUE(is_recording());
  EXPECT_TRUE(change_gate(kStopped, 0));
  EXPECT_TRUE(source.paused);
  EXPECT_FALSE(change_gate(kOutsideSteps, 0)) << "closed already";
  EXPECT_FALSE(change_gate(0, kStopped)) << "another reason is left";
  EXPECT_TRUE(source.paused);
  EXPECT_TRUE(change_gate(0, kOutsideSteps));
  EXPECT_FALSE(source.paused);
  EXPECT_EQ(source.calls, 2);
  EXPECT_FALSE(change_gate(kWatchSteps, 0)) << "no reason to stop";

  // Many threads at once: whatever they did, the source knows how it ended.
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 2000; ++i) {
        const std::uint32_t bit = 1U << static_cast<unsigned>(t % 3);
        change_gate(bit, 0);
        change_gate(0, bit);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(is_recording());
  EXPECT_FALSE(source.paused);
  change_gate(0, kWatchSteps);
  EXPECT_EQ(gate_word(), 0U);
}

TEST(Gate, StepsOpenAndCloseIt) {
  EXPECT_EQ(current_step(), kNoStep);
  step_began(5);
  EXPECT_EQ(current_step(), 5) << "known also where nobody asked for steps";
  EXPECT_EQ(gate_word(), 0U);
  EXPECT_EQ(seen_steps(), std::nullopt);
  step_seen(7);
  step_seen(6);
  EXPECT_EQ(to_string(*seen_steps()), "6:7");
  record_only_steps(3, 4);
  EXPECT_FALSE(is_recording());
  const std::map<std::int64_t, bool> expected{{1, false}, {2, false}, {3, true},
                                              {4, true},  {5, false}, {6, false}};
  for (const auto& [step, recorded] : expected) {
    step_began(step);
    EXPECT_EQ(is_recording(), recorded) << step;
    EXPECT_EQ(current_step(), step);
  }
  // Numbers may begin anew, in the next epoch.
  step_began(3);
  EXPECT_TRUE(is_recording());
  step_began(7);
  EXPECT_FALSE(is_recording());
  record_all_steps();
  step_began(8);
  EXPECT_TRUE(is_recording());
  change_gate(0, kWatchSteps);
}

}  // namespace
}  // namespace lockstep::tracer::control

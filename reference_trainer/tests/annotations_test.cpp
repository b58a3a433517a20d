// What the trainer says through NVTX, heard by a listener of the tests' own, against docs/instrumentation.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

#include "reference_trainer/tests/small_job.h"
#include "trace/events/event.h"

namespace lockstep::trainer {
namespace {

using nlohmann::json;

constexpr int kRanks = 2;
constexpr int kSteps = 3;
constexpr int kMicroSteps = 2;
constexpr int kLayers = 2;

struct Range {
  std::string name;
  std::string schema;
  json fields;
  int thread = 0;
  std::size_t begin = 0;  // line numbers: a total order of what happened in the process
  std::size_t end = 0;
  std::vector<std::string> inside;  // schemas, or names of ranges without one, of the ranges around it
};

struct Recording {
  std::vector<Range> ranges;  // in the order of their begins
  std::vector<json> marks;
  std::map<int, std::string> thread_names;
  bool balanced = true;
};

Recording read_recording(const std::string& path) {
  Recording recording;
  std::map<int, std::vector<std::size_t>> open;
  std::size_t line_number = 0;
  for (const json& line : read_json_lines(path)) {
    ++line_number;
    const int thread = line.at("thread");
    std::vector<std::size_t>& stack = open[thread];
    if (line.at("kind") == "push") {
      Range range{line.at("message"),
                  line.value("schema", ""),
                  line.value("fields", json()),
                  thread,
                  line_number,
                  0,
                  {}};
      for (const std::size_t around : stack) {
        const Range& outer = recording.ranges[around];
        range.inside.push_back(outer.schema.empty() ? outer.name : outer.schema);
      }
      stack.push_back(recording.ranges.size());
      recording.ranges.push_back(range);
    } else if (line.at("kind") == "pop") {
      if (stack.empty()) {
        recording.balanced = false;
        continue;
      }
      recording.ranges[stack.back()].end = line_number;
      stack.pop_back();
    } else if (line.at("kind") == "mark") {
      recording.marks.push_back(line);
      recording.marks.back()["line"] = line_number;
    } else {
      recording.thread_names[thread] = line.at("message");
    }
  }
  for (const auto& [thread, stack] : open) recording.balanced = recording.balanced && stack.empty();
  return recording;
}

// One job for all tests of this file.
class Annotations : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    write_file(folder_->file("text"), sample_text());
    listened_ = run(listening(folder_->file("heard")), "log");
    for (int rank = 0; rank < kRanks; ++rank) {
      recordings_.push_back(read_recording(folder_->file("heard." + std::to_string(rank))));
    }
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
    recordings_.clear();
  }

  static std::vector<json> run(const Environment& environment, const std::string& log) {
    TrainerProcess process({"--ranks",
                            std::to_string(kRanks),
                            "--layers",
                            std::to_string(kLayers),
                            "--hidden",
                            "32",
                            "--heads",
                            "2",
                            "--sequence-length",
                            "16",
                            "--batch-size",
                            "2",
                            "--gradient-accumulation",
                            std::to_string(kMicroSteps),
                            "--steps",
                            std::to_string(kSteps),
                            "--first-bucket-mb",
                            "0.03",
                            "--bucket-cap-mb",
                            "0.04",
                            "--slow-rank",
                            "1",
                            "--slow-factor",
                            "2",
                            "--data",
                            folder_->file("text"),
                            "--log",
                            folder_->file(log)},
                           environment);
    EXPECT_EQ(process.wait(), 0) << process.errors();
    return read_json_lines(folder_->file(log));
  }

  static std::vector<Range> with_schema(int rank, const std::string& schema) {
    std::vector<Range> found;
    for (const Range& range : recordings_.at(static_cast<std::size_t>(rank)).ranges) {
      if (range.schema == schema) found.push_back(range);
    }
    return found;
  }
  static std::vector<Range> with_name(int rank, const std::string& name) {
    std::vector<Range> found;
    for (const Range& range : recordings_.at(static_cast<std::size_t>(rank)).ranges) {
      if (range.schema.empty() && range.name == name) found.push_back(range);
    }
    return found;
  }

  static TemporaryFolder* folder_;
  static std::vector<json> listened_;
  static std::vector<Recording> recordings_;
};
TemporaryFolder* Annotations::folder_ = nullptr;
std::vector<json> Annotations::listened_;
std::vector<Recording> Annotations::recordings_;

TEST_F(Annotations, RangesAreClosedAndThreadsNamed) {
  for (const Recording& recording : recordings_) {
    EXPECT_TRUE(recording.balanced);
    std::multiset<std::string> names;
    for (const auto& [thread, name] : recording.thread_names) names.insert(name);
    EXPECT_EQ(names, (std::multiset<std::string>{"gloo", "main"}));
  }
}

TEST_F(Annotations, StepsAndPhases) {
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::vector<Range> steps = with_schema(rank, "lockstep.step");
    ASSERT_EQ(steps.size(), kSteps);
    for (int i = 0; i < kSteps; ++i) EXPECT_EQ(steps[static_cast<std::size_t>(i)].fields.at("step"), i + 1);
    for (int i = 1; i < kSteps; ++i) {
      EXPECT_LT(steps[static_cast<std::size_t>(i - 1)].end, steps[static_cast<std::size_t>(i)].begin);
    }
    for (const char* phase : {"data_loading", "forward", "backward"}) {
      EXPECT_EQ(with_name(rank, phase).size(), kSteps * kMicroSteps) << phase;
    }
    EXPECT_EQ(with_name(rank, "optimizer").size(), kSteps);
    EXPECT_EQ(with_name(rank, "wait for gradients").size(),
              kSteps);  // not in micro-steps that reduce nothing
  }
}

// As docs/instrumentation.md numbers them.
int pass_of(const std::string& name) {
  if (name.starts_with("forward")) return 1;
  return name.starts_with("backward") ? 2 : 4;
}

TEST_F(Annotations, ComputeRangesCoverEveryPartAndNoWaiting) {
  for (int rank = 0; rank < kRanks; ++rank) {
    std::map<std::string, int> counts;
    for (const Range& range : with_schema(rank, "lockstep.compute")) {
      ++counts[range.name];
      EXPECT_EQ(range.fields.at("pass"), pass_of(range.name)) << range.name;
      EXPECT_EQ(std::count(range.inside.begin(), range.inside.end(), "lockstep.compute"), 0)
          << range.name << " is nested";
      for (const char* wait : {"wait for gradients", "wait for loss"}) {
        for (const Range& waiting : with_name(rank, wait)) {
          EXPECT_TRUE(range.end < waiting.begin || range.begin > waiting.end)
              << range.name << " over " << wait;
        }
      }
    }
    std::map<std::string, int> expected{
        {"gradient norm", kSteps}, {"clip gradients", kSteps}, {"AdamW", kSteps}};
    for (const std::string pass : {"forward", "backward"}) {
      expected[pass + " embedding"] = kSteps * kMicroSteps;
      expected[pass + " head"] = kSteps * kMicroSteps;
      for (int layer = 0; layer < kLayers; ++layer) {
        expected[pass + " layer " + std::to_string(layer)] = kSteps * kMicroSteps;
      }
    }
    for (int layer = 0; layer < kLayers && rank == 1; ++layer) {
      expected["forward layer " + std::to_string(layer) + " (repeated)"] = kSteps * kMicroSteps;
    }
    EXPECT_EQ(counts, expected) << "rank " << rank;
  }
}

TEST_F(Annotations, BackwardRangesFollowEachOther) {
  for (int rank = 0; rank < kRanks; ++rank) {
    std::vector<std::string> names;
    for (const Range& range : with_schema(rank, "lockstep.compute")) {
      if (range.name.starts_with("backward")) names.push_back(range.name);
    }
    std::vector<std::string> expected;
    for (int i = 0; i < kSteps * kMicroSteps; ++i) {
      expected.insert(expected.end(),
                      {"backward head", "backward layer 1", "backward layer 0", "backward embedding"});
    }
    EXPECT_EQ(names, expected);
  }
}

TEST_F(Annotations, EachCollectiveIsIssuedOnceAndRunsOnceOnTheWorker) {
  for (int rank = 0; rank < kRanks; ++rank) {
    const auto& names = recordings_.at(static_cast<std::size_t>(rank)).thread_names;
    const std::vector<Range> issues = with_schema(rank, "lockstep.issue");
    const std::vector<Range> collectives = with_schema(rank, "lockstep.collective");
    ASSERT_EQ(issues.size(), collectives.size());
    for (std::size_t i = 0; i < issues.size(); ++i) {
      EXPECT_EQ(issues[i].fields.at("sequence"), i);
      EXPECT_EQ(collectives[i].fields.at("sequence"), i);
      EXPECT_EQ(issues[i].name, collectives[i].name);
      EXPECT_EQ(issues[i].fields.at("group"), collectives[i].fields.at("group"));
      EXPECT_LT(issues[i].begin, collectives[i].begin);
      EXPECT_EQ(names.at(issues[i].thread), "main");
      EXPECT_EQ(names.at(collectives[i].thread), "gloo");
      if (i > 0) {
        EXPECT_LT(collectives[i - 1].end, collectives[i].begin);
      }
    }
  }
}

TEST_F(Annotations, CollectivesEndBeforeThoseWhoWaitForThem) {
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::vector<Range> waits = with_name(rank, "wait for gradients");
    for (std::size_t step = 0; step < waits.size(); ++step) {
      const Range around = with_schema(rank, "lockstep.step").at(step);
      for (const Range& collective : with_schema(rank, "lockstep.collective")) {
        if (!collective.name.starts_with("all_reduce gradients")) continue;
        if (collective.begin < around.begin || collective.begin > around.end) continue;
        EXPECT_LT(collective.end, waits[step].end) << "step " << step + 1 << ", " << collective.name;
      }
    }
  }
}

TEST_F(Annotations, RanksAgreeOnEveryCollective) {
  const std::vector<Range> first = with_schema(0, "lockstep.collective");
  const std::vector<Range> second = with_schema(1, "lockstep.collective");
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].name, second[i].name);
    EXPECT_EQ(first[i].fields, second[i].fields);
  }
}

TEST_F(Annotations, GroupIsDeclaredBeforeItsFirstOperation) {
  for (int rank = 0; rank < kRanks; ++rank) {
    std::optional<json> group;
    for (const json& mark : recordings_.at(static_cast<std::size_t>(rank)).marks) {
      if (mark.value("schema", "") == "lockstep.group") {
        EXPECT_FALSE(group.has_value());
        group = mark;
      }
    }
    ASSERT_TRUE(group.has_value());
    EXPECT_EQ(group->at("fields"), (json{{"group", 0}, {"size", kRanks}, {"ranks", "0,1"}}));
    EXPECT_LT(group->at("line"), with_schema(rank, "lockstep.issue").at(0).begin);
  }
}

TEST_F(Annotations, GradientBytesOfEachStepAreTheModels) {
  const json start = events(listened_, "start").at(0);
  const std::size_t buckets = events(listened_, "buckets").at(1).at("buckets").size();
  ASSERT_GT(buckets, 1u);
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::vector<Range> steps = with_schema(rank, "lockstep.step");
    for (std::size_t i = 0; i < steps.size(); ++i) {
      std::size_t count = 0;
      std::int64_t bytes = 0;
      for (const Range& range : with_schema(rank, "lockstep.collective")) {
        if (range.begin < steps[i].begin || range.begin > steps[i].end) continue;
        if (!range.name.starts_with("all_reduce gradients")) continue;
        ++count;
        bytes += range.fields.at("bytes").get<std::int64_t>();
        EXPECT_EQ(range.fields.at("operation"), static_cast<int>(trace::Operation::all_reduce));
        EXPECT_EQ(range.fields.at("data_type"), static_cast<int>(trace::DataType::float32));
        EXPECT_EQ(range.fields.at("peer"), -1);
      }
      EXPECT_EQ(count, i == 0 ? 1 : buckets);
      EXPECT_EQ(bytes, start.at("gradient_bytes"));
    }
  }
}

TEST_F(Annotations, FirstBucketIsIssuedBeneathBackwardOfTheLastMicroStep) {
  int issued = 0;
  for (const Range& issue : with_schema(0, "lockstep.issue")) {
    if (issue.name != "all_reduce gradients 0") continue;
    ++issued;
    EXPECT_THAT(issue.inside, ::testing::ElementsAre("lockstep.step", "backward", "lockstep.compute"));
  }
  EXPECT_EQ(issued, kSteps);
}

TEST_F(Annotations, BroadcastsNameTheirRoot) {
  int broadcasts = 0;
  for (const Range& range : with_schema(1, "lockstep.collective")) {
    if (range.fields.at("operation") != static_cast<int>(trace::Operation::broadcast)) continue;
    ++broadcasts;
    EXPECT_EQ(range.fields.at("peer"), 0);
  }
  EXPECT_GE(broadcasts, 1);
}

TEST_F(Annotations, TrainingIsTheSameWithoutAListener) {
  const std::vector<json> silent = run({}, "silent");
  const std::vector<json> listened_steps = events(listened_, "step");
  const std::vector<json> silent_steps = events(silent, "step");
  ASSERT_EQ(silent_steps.size(), kSteps);
  for (std::size_t i = 0; i < kSteps; ++i) {
    EXPECT_EQ(silent_steps[i].at("loss"), listened_steps.at(i).at("loss"));
    EXPECT_EQ(silent_steps[i].at("gradient_norm"), listened_steps.at(i).at("gradient_norm"));
  }
}

}  // namespace
}  // namespace lockstep::trainer

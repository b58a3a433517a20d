// Pipeline parallel training: its losses are those of one process, each stage computes, sends and receives in
// the order of its schedule, and what it moves is what the schedule says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "reference_trainer/tests/small_job.h"
#include "trace/events/event.h"

namespace lockstep::trainer {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr int kHidden = 24;
constexpr int kSequence = 16;

const Arguments kPipeline{"--mode", "pipeline"};

class Pipeline : public SmallJob {
 protected:
  Pipeline()
      : SmallJob({"--hidden", std::to_string(kHidden), "--heads", "2", "--sequence-length",
                  std::to_string(kSequence)}) {}

  // As SmallJob's, of pipelines.
  std::vector<std::vector<json>> heard(int ranks, const Arguments& more) const {
    return SmallJob::heard(ranks, kPipeline + more);
  }
  std::string refusal(const Arguments& more) const { return SmallJob::refusal(kPipeline + more); }
};

struct Group {
  std::string name;
  std::string ranks;
};
std::map<int, Group> groups(const std::vector<json>& lines) {
  std::map<int, Group> groups;
  for (const json& line : lines) {
    if (line.value("schema", "") != "lockstep.group") continue;
    groups[line.at("fields").at("group")] = {line.at("message"), line.at("fields").at("ranks")};
  }
  return groups;
}

int group_with_name(const std::vector<json>& lines, const std::string& name) {
  for (const auto& [id, group] : groups(lines))
    if (group.name == name) return id;
  ADD_FAILURE() << "no group is named " << name;
  return -1;
}

// What a rank issued in the group "pipeline" and computed, in step 2, in order: "F0 >a0 <g0 B0" is the
// forward of microbatch 0, its activation sent, its gradient's receive posted, its backward. ".1" is of chunk
// 1, told by the layer; `layers` each chunk has.
std::string order_in_step_2(const std::vector<json>& lines, int layers, int stages, int chunks) {
  const int pipeline = group_with_name(lines, "pipeline");
  std::vector<std::string> words;
  for (const json& line : begun_in_step(lines, 2)) {
    const std::string schema = line.value("schema", "");
    const std::string message = line.at("message");
    std::string word;
    if (schema == "lockstep.issue" && line.at("fields").at("group") == pipeline) {
      // "send activation 3", "recv gradient 3 chunk 1"
      std::istringstream stream(message);
      std::string direction, what, microbatch, chunk_word, chunk;
      stream >> direction >> what >> microbatch >> chunk_word >> chunk;
      word = (direction == "send" ? ">" : "<") + what.substr(0, 1) + microbatch;
      if (!chunk.empty()) word += "." + chunk;
    } else if (schema == "lockstep.compute" && line.at("fields").at("layer") >= 0) {
      const json& fields = line.at("fields");
      word =
          (message.starts_with("forward") ? "F" : "B") + std::to_string(fields.at("microbatch").get<int>());
      if (chunks > 1) word += "." + std::to_string(fields.at("layer").get<int>() / layers / stages);
    }
    // The layers of one pass are one word.
    if (!word.empty() && (words.empty() || words.back() != word)) words.push_back(word);
  }
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

TEST_F(Pipeline, OneForwardOneBackwardInOrder) {
  const auto ranks = heard(3, {"--layers", "6", "--microbatches", "4", "--batch-size", "2", "--steps", "2"});
  EXPECT_EQ(order_in_step_2(ranks[0], 2, 3, 1), "F0 >a0 F1 >a1 F2 >a2 <g0 B0 F3 >a3 <g1 B1 <g2 B2 <g3 B3");
  EXPECT_EQ(order_in_step_2(ranks[1], 2, 3, 1),
            "<a0 F0 >a0 <a1 F1 >a1 <g0 B0 >g0 <a2 F2 >a2 <g1 B1 >g1 <a3 F3 >a3 <g2 B2 >g2 <g3 B3 >g3");
  EXPECT_EQ(order_in_step_2(ranks[2], 2, 3, 1), "<a0 F0 B0 >g0 <a1 F1 B1 >g1 <a2 F2 B2 >g2 <a3 F3 B3 >g3");
}

TEST_F(Pipeline, GPipeInOrder) {
  const auto ranks = heard(2, {"--schedule", "gpipe", "--layers", "2", "--microbatches", "3", "--batch-size",
                               "2", "--steps", "2"});
  EXPECT_EQ(order_in_step_2(ranks[0], 1, 2, 1), "F0 >a0 F1 >a1 F2 >a2 <g0 B0 <g1 B1 <g2 B2");
  EXPECT_EQ(order_in_step_2(ranks[1], 1, 2, 1), "<a0 F0 <a1 F1 <a2 F2 B0 >g0 B1 >g1 B2 >g2");
}

// A message's chunk is its receiver's. Between two stages, messages of all kinds and chunks share two
// connections.
TEST_F(Pipeline, InterleavedInOrder) {
  const auto ranks = heard(2, {"--schedule", "interleaved", "--chunks", "2", "--layers", "4",
                               "--microbatches", "2", "--batch-size", "2", "--steps", "2"});
  EXPECT_EQ(order_in_step_2(ranks[0], 1, 2, 2),
            "F0.0 >a0.0 F1.0 >a1.0 <a0.1 F0.1 >a0.1 <a1.1 F1.1 >a1.1 <g0.1 B0.1 >g0.0 <g1.1 B1.1 >g1.0 "
            "<g0.0 B0.0 <g1.0 B1.0");
  EXPECT_EQ(order_in_step_2(ranks[1], 1, 2, 2),
            "<a0.0 F0.0 >a0.1 <a1.0 F1.0 >a1.1 <a0.1 F0.1 B0.1 >g0.1 <a1.1 F1.1 B1.1 >g1.1 "
            "<g0.0 B0.0 >g0.0 <g1.0 B1.0 >g1.0");
}

struct Moved {
  std::string name;
  std::int64_t peer = -1;
  std::int64_t bytes = 0;
  bool operator==(const Moved&) const = default;
};
void PrintTo(const Moved& moved, std::ostream* out) {
  *out << moved.name << ", peer " << moved.peer << ", " << moved.bytes << " bytes";
}

// The sends, or receives, of a rank in its pipeline's group, as they ran, in order of issue.
std::vector<Moved> moved(const std::vector<json>& lines, trace::Operation operation) {
  std::map<int, Moved> by_sequence;
  const auto all = groups(lines);
  for (const json& line : lines) {
    if (line.value("schema", "") != "lockstep.collective") continue;
    const json& fields = line.at("fields");
    if (!all.at(fields.at("group")).name.starts_with("pipeline")) continue;
    if (fields.at("operation") != static_cast<int>(operation)) continue;
    by_sequence[fields.at("sequence")] = {line.at("message").get<std::string>().substr(5), fields.at("peer"),
                                          fields.at("bytes")};
  }
  std::vector<Moved> moved;
  for (const auto& [sequence, one] : by_sequence) moved.push_back(one);
  return moved;
}

std::vector<Moved> with_peer(std::vector<Moved> all, int peer, int new_peer) {
  std::erase_if(all, [peer](const Moved& one) { return one.peer != peer; });
  for (Moved& one : all) one.peer = new_peer;
  return all;
}

// Four stages of two chunks are eight model stages: seven boundaries, each crossed by an activation and a
// gradient of every microbatch.
TEST_F(Pipeline, MovesEachActivationAndGradientOnce) {
  constexpr int kStages = 4, kMicrobatches = 4, kSteps = 2, kBatch = 3, kModelStages = 8;
  const auto ranks = heard(
      kStages, {"--schedule", "interleaved", "--layers", "8", "--microbatches", std::to_string(kMicrobatches),
                "--batch-size", std::to_string(kBatch), "--steps", std::to_string(kSteps)});
  constexpr std::int64_t kActivationBytes = kBatch * kSequence * kHidden * 4;
  for (int rank = 0; rank < kStages; ++rank) {
    const auto& lines = ranks[static_cast<std::size_t>(rank)];
    for (const trace::Operation operation : {trace::Operation::send, trace::Operation::recv}) {
      std::int64_t bytes = 0;
      for (const Moved& one : moved(lines, operation)) bytes += one.bytes;
      int each_microbatch = 0;
      for (int model_stage = rank; model_stage < kModelStages; model_stage += kStages)
        each_microbatch += (model_stage > 0) + (model_stage + 1 < kModelStages);
      EXPECT_EQ(bytes, kSteps * kMicrobatches * each_microbatch * kActivationBytes) << "rank " << rank;
    }
    // The n-th message that one rank sends another is the n-th that the other receives from it.
    for (int peer = 0; peer < kStages; ++peer) {
      EXPECT_EQ(with_peer(moved(lines, trace::Operation::send), peer, -1),
                with_peer(moved(ranks[static_cast<std::size_t>(peer)], trace::Operation::recv), rank, -1))
          << "from rank " << rank << " to rank " << peer;
    }
  }
}

// Two pipelines of two stages: ranks 0 and 2, ranks 1 and 3.
TEST_F(Pipeline, PipelinesSideBySideShareGradientsAlone) {
  const auto ranks =
      heard(4, {"--pipeline-stages", "2", "--layers", "2", "--microbatches", "2", "--steps", "2"});
  for (int rank = 0; rank < 4; ++rank) {
    const auto& lines = ranks[static_cast<std::size_t>(rank)];
    const std::string pipeline = "pipeline " + std::to_string(rank % 2);
    const std::string copies = "data_parallel stage " + std::to_string(rank / 2);
    EXPECT_EQ(groups(lines).at(group_with_name(lines, pipeline)).ranks, rank % 2 == 0 ? "0,2" : "1,3");
    const int copies_id = group_with_name(lines, copies);
    EXPECT_EQ(groups(lines).at(copies_id).ranks, rank < 2 ? "0,1" : "2,3");
    for (const trace::Operation operation : {trace::Operation::send, trace::Operation::recv}) {
      const std::vector<Moved> all = moved(lines, operation);
      EXPECT_EQ(all.size(), 4u);
      for (const Moved& one : all) EXPECT_EQ(one.peer, (rank + 2) % 4);
    }
    int all_reduces = 0;
    for (const json& line : lines) {
      if (line.value("schema", "") != "lockstep.collective") continue;
      if (line.at("fields").at("group") != copies_id) continue;
      ++all_reduces;
      EXPECT_EQ(line.at("fields").at("operation"), static_cast<int>(trace::Operation::all_reduce));
    }
    EXPECT_EQ(all_reduces, 2);  // one bucket a step
  }
}

struct Job {
  int ranks = 2;
  int stages = 2;
  std::string schedule;
};
void PrintTo(const Job& job, std::ostream* out) {
  *out << job.schedule << ", " << job.stages << " stages on " << job.ranks << " ranks";
}

class PipelineLoss : public Pipeline, public testing::WithParamInterface<Job> {};

TEST_P(PipelineLoss, EqualsOneProcess) {
  const Job& job = GetParam();
  const int pipelines = job.ranks / job.stages;
  const int microbatches = 8, sequences = 2;
  const Arguments common{"--dtype",          "float64",
                         "--steps",          "20",
                         "--clip-grad-norm", "0.5",
                         "--layers",         std::to_string(2 * job.stages),
                         "--microbatches",   std::to_string(microbatches)};
  const auto one =
      steps(common + Arguments{"--mode", "single", "--batch-size", std::to_string(sequences * pipelines)});
  const auto many =
      steps(common + kPipeline +
            Arguments{"--ranks", std::to_string(job.ranks), "--pipeline-stages", std::to_string(job.stages),
                      "--schedule", job.schedule, "--batch-size", std::to_string(sequences)});
  ASSERT_EQ(one.size(), 20u);
  EXPECT_LT(largest_difference(one, many), 1e-9);
  EXPECT_LT(many.back().at("loss"), many.front().at("loss"));
}

INSTANTIATE_TEST_SUITE_P(Schedules, PipelineLoss,
                         testing::Values(Job{2, 2, "gpipe"}, Job{4, 4, "gpipe"}, Job{8, 8, "gpipe"},
                                         Job{2, 2, "1f1b"}, Job{4, 4, "1f1b"}, Job{8, 8, "1f1b"},
                                         Job{2, 2, "interleaved"}, Job{4, 4, "interleaved"},
                                         Job{8, 8, "interleaved"}, Job{4, 2, "1f1b"}, Job{8, 4, "1f1b"},
                                         Job{4, 2, "interleaved"}, Job{8, 4, "gpipe"}),
                         [](const auto& info) {
                           const std::string schedule = info.param.schedule == "1f1b"
                                                            ? "one_forward_one_backward"
                                                            : info.param.schedule;
                           return schedule + "_" + std::to_string(info.param.stages) + "_of_" +
                                  std::to_string(info.param.ranks);
                         });

TEST_F(Pipeline, CheckpointedActivationsChangeNothing) {
  const Arguments job{"--mode",  "pipeline", "--ranks", "2", "--layers",       "4",
                      "--dtype", "float64",  "--steps", "5", "--microbatches", "3"};
  EXPECT_LT(largest_difference(steps(job), steps(job + Arguments{"--activation-checkpointing"})), 1e-12);
}

// The first of two stages holds the embedding and two of four layers, and the gradients and the optimizer's
// state of these alone.
TEST_F(Pipeline, HoldsItsOwnStageAlone) {
  for (const std::string type : {"float32", "bfloat16"}) {
    steps({"--mode", "pipeline", "--ranks", "2", "--layers", "4", "--dtype", type, "--steps", "2"});
    const auto log = read_json_lines(folder_.file("log"));
    std::int64_t elements = 0;
    const json start = events(log, "start").at(0);
    for (const json& parameter : start.at("parameters")) {
      const std::string name = parameter.at("name");
      const bool own =
          name.starts_with("layer_") ? name[6] < '2' : name.find("embedding") != std::string::npos;
      if (own) elements += parameter.at("elements").get<std::int64_t>();
    }
    const json memory = events(log, "memory").at(0);
    const std::int64_t each = type == "float32" ? 4 : 2;
    EXPECT_EQ(memory.at("parameters"), each * elements) << type;
    EXPECT_EQ(memory.at("gradients"), each * elements) << type;
    EXPECT_EQ(memory.at("optimizer"), (type == "float32" ? 8 : 12) * elements) << type;
    EXPECT_EQ(memory.at("parameters"), memory.at("theory").at("parameters")) << type;
    EXPECT_EQ(memory.at("optimizer"), memory.at("theory").at("optimizer")) << type;
  }
}

TEST_F(Pipeline, OverlappedReceivesArePostedBeforeCompute) {
  const auto ranks = heard(2, {"--overlap-p2p-communication", "--layers", "2", "--microbatches", "3",
                               "--batch-size", "2", "--steps", "2"});
  EXPECT_EQ(order_in_step_2(ranks[0], 1, 2, 1), "F0 >a0 <g0 F1 >a1 B0 <g1 F2 >a2 <g2 B1 B2");
  EXPECT_EQ(order_in_step_2(ranks[1], 1, 2, 1), "<a0 F0 <a1 B0 >g0 F1 <a2 B1 >g1 F2 B2 >g2");
}

// The same microbatches through the same arithmetic: only the order in which sums are taken differs.
TEST_F(Pipeline, OtherPrecisions) {
  const std::map<std::string, double> tolerance{{"float32", 1e-4}, {"bfloat16", 1e-2}};
  for (const auto& [type, limit] : tolerance) {
    const Arguments job{"--layers", "4", "--dtype", type, "--steps", "5", "--microbatches", "4"};
    const auto one = steps(job + Arguments{"--mode", "single"});
    const auto many = steps(job + kPipeline + Arguments{"--ranks", "2"});
    EXPECT_LT(largest_difference(one, many), limit) << type;
  }
}

TEST_F(Pipeline, WhatDoesNotDivideIsRefused) {
  EXPECT_THAT(refusal({}), HasSubstr("--mode pipeline: one rank is no pipeline"));
  EXPECT_THAT(refusal({"--ranks", "2", "--layers", "5"}), HasSubstr("4 or 6 layers would do"));
  EXPECT_THAT(refusal({"--ranks", "3", "--pipeline-stages", "2"}), HasSubstr("2 or 4 ranks would do"));
  EXPECT_THAT(refusal({"--ranks", "2", "--chunks", "2", "--layers", "4"}), HasSubstr("--chunks 2"));
  EXPECT_THAT(refusal({"--ranks", "2", "--schedule", "interleaved", "--layers", "4", "--microbatches", "3"}),
              HasSubstr("--microbatches 3"));
}

}  // namespace
}  // namespace lockstep::trainer

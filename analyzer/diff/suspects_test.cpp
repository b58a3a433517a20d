#include "analyzer/diff/suspects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// "--lr: 1 → 2"
std::vector<std::string> words(const std::vector<Suspect>& all) {
  std::vector<std::string> list;
  for (const Suspect& one : all) list.push_back(one.name + ": " + one.a + " → " + one.b);
  return list;
}

std::vector<std::string> of_commands(std::vector<std::string> a, std::vector<std::string> b) {
  return words(suspects({.command = std::move(a), .values = {}}, {.command = std::move(b), .values = {}}));
}

TEST(Suspects, OfCommandsAreTheFlagsThatDiffer) {
  EXPECT_THAT(of_commands({"train", "--cap", "25", "-v"}, {"train", "--cap", "1", "-v"}),
              ElementsAre("--cap: 25 → 1"));
  EXPECT_THAT(of_commands({"train", "--cap=25"}, {"train", "--cap", "25"}), IsEmpty());
  EXPECT_THAT(of_commands({"train", "--a", "1", "--b", "2"}, {"train", "--b", "2", "--a", "1"}), IsEmpty());
  EXPECT_THAT(of_commands({"train.py", "--compile"}, {"train2.py"}),
              ElementsAre("command: train.py → train2.py", "--compile: given → "));
  EXPECT_THAT(of_commands({"t", "--lr", "-3"}, {"t", "--lr", "-4"}), ElementsAre("--lr: -3 → -4"));
  EXPECT_THAT(of_commands({"t"}, {"t", "more"}), ElementsAre("command:  → more"));
  EXPECT_THAT(of_commands({"t", "--n", "2"}, {"t", "--n", "2", "--n", "3"}), ElementsAre("--n: 2 → 3"));
  EXPECT_THAT(of_commands({}, {"t"}), IsEmpty());  // of one it is not known
}

TEST(Suspects, OfValuesAreThoseThatDiffer) {
  EXPECT_THAT(
      words(suspects({.command = {}, .values = {{"hosts", "a"}, {"NCCL_ALGO", "Ring"}, {"same", "1"}}},
                     {.command = {}, .values = {{"hosts", "a, b"}, {"same", "1"}}})),
      ElementsAre("NCCL_ALGO: Ring → ", "hosts: a → a, b"));
}

TEST(Suspects, OfAJobAreItsStartAndItsRanks) {
  Job job;
  job.start = {.command = {"t"}, .working_folder = "/w", .environment = {{"OMP_NUM_THREADS", "2"}}};
  job.world_size = 2;
  job.sources = {"lockstep"};
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    RankTrace trace;
    trace.rank = rank;
    trace.host = rank == 0 ? "b" : "a";
    trace.device = rank == 0 ? "cuda:0" : "cuda:1";
    trace.cores = 4;
    job.ranks.push_back(std::move(trace));
  }
  const RunSettings settings = settings_of(job);
  EXPECT_THAT(settings.command, ElementsAre("t"));
  EXPECT_EQ(settings.values.at("hosts"), "a, b");
  EXPECT_EQ(settings.values.at("kinds of devices"), "cuda");
  EXPECT_EQ(settings.values.at("cores of a rank"), "4");
  EXPECT_EQ(settings.values.at("OMP_NUM_THREADS"), "2");
  EXPECT_FALSE(settings.values.contains("limit of cores' time"));
}

}  // namespace
}  // namespace lockstep::analyzer

#include "reference_trainer/launcher/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace lockstep::trainer {
namespace {

using Variables = std::map<std::string, std::string>;

Result<std::optional<Placement>> read(const Variables& variables) {
  return read_placement([&variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

const Variables kTorchrun{{"RANK", "2"},
                          {"WORLD_SIZE", "4"},
                          {"MASTER_ADDR", "node0"},
                          {"MASTER_PORT", "29501"},
                          {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                          {"TORCHELASTIC_RESTART_COUNT", "1"}};

TEST(Placement, NotLaunched) {
  const auto placement = read({{"WORLD_SIZE", "4"}});
  ASSERT_TRUE(placement.ok());
  EXPECT_FALSE(placement.value().has_value());
}

TEST(Placement, Torchrun) {
  const auto placement = read(kTorchrun);
  ASSERT_TRUE(placement.ok());
  ASSERT_TRUE(placement.value().has_value());
  EXPECT_EQ(placement.value()->rank, 2);
  EXPECT_EQ(placement.value()->world_size, 4);
  EXPECT_EQ(placement.value()->master_address, "node0");
  EXPECT_EQ(placement.value()->master_port, 29501);
  EXPECT_TRUE(placement.value()->launcher_runs_store);
  EXPECT_EQ(placement.value()->restart_count, 1);
}

TEST(Placement, TheRankWithinItsNode) {
  Variables variables = kTorchrun;
  EXPECT_EQ(read(variables).value()->local_rank, 2);
  variables["LOCAL_WORLD_SIZE"] = "2";
  EXPECT_EQ(read(variables).value()->local_rank, 0);
  variables["LOCAL_RANK"] = "1";
  EXPECT_EQ(read(variables).value()->local_rank, 1);
  variables["LOCAL_RANK"] = "2";
  EXPECT_THAT(read(variables).error().message, ::testing::HasSubstr("LOCAL_RANK='2'"));
}

TEST(Placement, RankZeroRunsTheStoreWithoutAnAgent) {
  Variables variables = kTorchrun;
  variables["TORCHELASTIC_USE_AGENT_STORE"] = "False";
  EXPECT_FALSE(read(variables).value()->launcher_runs_store);
  variables.erase("TORCHELASTIC_USE_AGENT_STORE");
  EXPECT_FALSE(read(variables).value()->launcher_runs_store);
}

TEST(Placement, OneRankNeedsNoMaster) {
  const auto placement = read({{"RANK", "0"}, {"WORLD_SIZE", "1"}});
  ASSERT_TRUE(placement.ok());
  EXPECT_EQ(placement.value()->world_size, 1);
}

TEST(Placement, ErrorsNameTheVariable) {
  const std::pair<const char*, const char*> wrong[] = {
      {"RANK", "x"},        {"RANK", "4"},
      {"RANK", "-1"},       {"RANK", ""},
      {"WORLD_SIZE", "0"},  {"WORLD_SIZE", "4 "},
      {"MASTER_PORT", "0"}, {"MASTER_PORT", "65536"},
      {"MASTER_ADDR", ""},  {"TORCHELASTIC_RESTART_COUNT", "many"}};
  for (const auto& [name, value] : wrong) {
    Variables variables = kTorchrun;
    variables[name] = value;
    const auto placement = read(variables);
    ASSERT_FALSE(placement.ok()) << name << "=" << value;
    EXPECT_THAT(placement.error().message, ::testing::HasSubstr(name));
  }
  for (const char* name : {"WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
    Variables variables = kTorchrun;
    variables.erase(name);
    const auto placement = read(variables);
    ASSERT_FALSE(placement.ok()) << name;
    EXPECT_THAT(placement.error().message, ::testing::HasSubstr(name));
  }
}

}  // namespace
}  // namespace lockstep::trainer

// No mode is forgotten: each folder of modes/ says how its modes are tried, and these are the modes of the
// list.
#include "reference_trainer/tests/tried_modes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace lockstep::trainer {
namespace {

// Some job names a mode of the file: a copy of another mode's would try that one again.
bool tries_a_mode_of(const nlohmann::json& tried, const char* test) {
  for (const nlohmann::json& job : tried.at(test)) {
    if (job.contains("zero_optimization"))
      return tried.at("modes").contains("zero" + job.at("zero_optimization").at("stage").dump());
    const std::string flags = " " + job.at("flags").get<std::string>() + " ";
    for (const auto& [name, mode] : tried.at("modes").items())
      if (flags.find(" --mode " + name + " ") != std::string::npos) return true;
  }
  return false;
}

TEST(TriedModes, AreThoseOfTheList) {
  std::vector<std::string> described, listed;
  for (const auto& folder :
       std::filesystem::directory_iterator(LOCKSTEP_SOURCE_DIR "/reference_trainer/modes")) {
    if (!folder.is_directory()) continue;
    std::ifstream file(folder.path() / "tried.json");
    ASSERT_TRUE(file) << folder.path();
    const nlohmann::json tried = nlohmann::json::parse(file);
    for (const auto& [name, mode] : tried.at("modes").items()) described.push_back(name);
    for (const char* test : {"float32", "reproduction", "cuda"})
      EXPECT_TRUE(tries_a_mode_of(tried, test)) << folder.path() << ": " << test;
  }
  for (const TriedMode& mode : tried_modes()) listed.push_back(mode.name);
  EXPECT_THAT(described, testing::UnorderedElementsAreArray(listed));
}

TriedJob job_of(const std::string& test, const std::string& name, int ranks) {
  for (const TriedJob& job : tried_jobs(test))
    if (job.name == name && job.ranks == ranks) return job;
  ADD_FAILURE() << "there is no " << name << " on " << ranks << " ranks";
  return {};
}

TEST(TriedModes, JobsAreReadAsTheyAreWritten) {
  const TriedJob zero = job_of("float32", "zero3", 4);
  EXPECT_THAT(zero.flags, testing::ElementsAre("--batch-size", "2"));
  EXPECT_EQ(zero.zero_optimization.at("stage"), 3);
  EXPECT_EQ(zero.layers, 2);
  EXPECT_TRUE(zero.in_order);
  EXPECT_EQ(job_of("float32", "pipeline_1f1b", 4).layers, 4);
  EXPECT_TRUE(job_of("reproduction", "fsdp", 2).zero_optimization.is_null());
  EXPECT_TRUE(tried_jobs("nothing").empty());
}

}  // namespace
}  // namespace lockstep::trainer

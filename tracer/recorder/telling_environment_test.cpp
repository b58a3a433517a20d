#include "tracer/recorder/telling_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace lockstep::tracer::record {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(TellingEnvironment, IsThatOfLibrariesWithoutSecrets) {
  const std::array<const char*, 10> variables{"TORCH_FR_BUFFER_SIZE=2000",
                                              "NCCL_ALGO=Ring",
                                              "HOME=/home/me",
                                              "OMP_NUM_THREADS=4",
                                              "NCCL_TOKEN=abc",
                                              "AWS_SECRET_KEY=abc",
                                              "CUDA_VISIBLE_DEVICES=",
                                              "PYTORCH_A=b=c",
                                              "NCCL_WITHOUT_EQUALS",
                                              nullptr};
  EXPECT_THAT(
      telling_environment(variables.data()),
      ElementsAre(Pair("CUDA_VISIBLE_DEVICES", ""), Pair("NCCL_ALGO", "Ring"), Pair("OMP_NUM_THREADS", "4"),
                  Pair("PYTORCH_A", "b=c"), Pair("TORCH_FR_BUFFER_SIZE", "2000")));
  EXPECT_THAT(telling_environment(nullptr), IsEmpty());
}

TEST(TellingEnvironment, LongValuesAreCut) {
  const std::string variable = "NCCL_X=" + std::string(5000, 'x');
  const std::array<const char*, 2> variables{variable.c_str(), nullptr};
  EXPECT_EQ(telling_environment(variables.data()).at("NCCL_X").size(), 1024U);
}

}  // namespace
}  // namespace lockstep::tracer::record

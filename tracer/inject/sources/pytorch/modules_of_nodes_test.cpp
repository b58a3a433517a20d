#include "tracer/inject/sources/pytorch/modules_of_nodes.h"

#include <gtest/gtest.h>

namespace lockstep::tracer::pytorch {
namespace {

constexpr trace::StringId kModel = 1, kLayer = 2, kHead = 3;

TEST(ModulesOfNodes, ANodeIsOfTheInnermostModuleThatMadeIt) {
  ModulesOfNodes modules;
  modules.begin(kModel, 10);
  modules.begin(kLayer, 12);
  modules.end(15);
  modules.begin(kHead, 15);
  modules.end(16);
  modules.end(18);
  EXPECT_EQ(modules.module_of(9), std::nullopt);
  EXPECT_EQ(modules.module_of(10), kModel);
  EXPECT_EQ(modules.module_of(11), kModel);
  EXPECT_EQ(modules.module_of(12), kLayer);
  EXPECT_EQ(modules.module_of(14), kLayer);
  EXPECT_EQ(modules.module_of(15), kHead);
  EXPECT_EQ(modules.module_of(16), kModel);
  EXPECT_EQ(modules.module_of(17), kModel);
  EXPECT_EQ(modules.module_of(18), std::nullopt);
  EXPECT_EQ(modules.module_of(UINT64_MAX), std::nullopt);
}

TEST(ModulesOfNodes, AModuleThatMadeNoNodeHasNone) {
  ModulesOfNodes modules;
  modules.begin(kModel, 10);
  modules.begin(kLayer, 11);
  modules.end(11);
  modules.end(12);
  EXPECT_EQ(modules.module_of(10), kModel);
  EXPECT_EQ(modules.module_of(11), kModel);
}

TEST(ModulesOfNodes, ACountThatBeginsAnewForgetsTheOneBefore) {
  ModulesOfNodes modules;
  modules.begin(kModel, 100);
  modules.end(110);
  modules.begin(kLayer, 5);
  modules.end(8);
  EXPECT_EQ(modules.module_of(6), kLayer);
  EXPECT_EQ(modules.module_of(105), std::nullopt);
}

TEST(ModulesOfNodes, OldOnesAreForgottenAndNewOnesKept) {
  ModulesOfNodes modules;
  const std::uint64_t calls = 200'000;
  for (std::uint64_t call = 0; call < calls; ++call) {
    modules.begin(static_cast<trace::StringId>(call), 10 * call);
    modules.end(10 * call + 5);
  }
  EXPECT_EQ(modules.module_of(10 * (calls - 1) + 4), static_cast<trace::StringId>(calls - 1));
  EXPECT_EQ(modules.module_of(10 * (calls - 1) + 5), std::nullopt);
  EXPECT_EQ(modules.module_of(4), std::nullopt) << "too long ago";
}

TEST(ModulesOfNodes, AnEndWithoutABeginIsHarmless) {
  ModulesOfNodes modules;
  modules.end(3);
  EXPECT_EQ(modules.module_of(3), std::nullopt);
}

}  // namespace
}  // namespace lockstep::tracer::pytorch

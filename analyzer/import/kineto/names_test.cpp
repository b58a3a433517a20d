#include "analyzer/import/kineto/names.h"

#include <gtest/gtest.h>

namespace lockstep::analyzer::kineto {
namespace {

TEST(CategoryOf, KnowsOldAndNewNames) {
  for (const char* name : {"kernel", "Kernel"}) EXPECT_EQ(category_of(name), Category::kernel) << name;
  for (const char* name : {"gpu_memcpy", "gpu_memset", "Memcpy", "Memset"})
    EXPECT_EQ(category_of(name), Category::copy) << name;
  for (const char* name : {"cuda_runtime", "cuda_driver", "hip_runtime", "Runtime"})
    EXPECT_EQ(category_of(name), Category::launch) << name;
  EXPECT_EQ(category_of("cuda_sync"), Category::sync);
  EXPECT_EQ(category_of("cpu_op"), Category::operation);
  for (const char* name : {"", "ac2g", "KERNEL"}) EXPECT_EQ(category_of(name), Category::other) << name;
}

}  // namespace
}  // namespace lockstep::analyzer::kineto

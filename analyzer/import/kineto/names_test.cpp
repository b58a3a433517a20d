#include "analyzer/import/kineto/names.h"

#include <gtest/gtest.h>

namespace lockstep::analyzer::kineto {
namespace {

TEST(KernelKind, FollowsTheDefinition) {
  for (const char* name :
       {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
        "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "ncclSymkDevKernel_AllGather_ST",
        "ncclAllReduceRingLLKernel_sum_f32", "void ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*)",
        "rcclKernel_AllReduce", "mscclKernel_Sum_float", "ncclDevKernel_Generic_4"})
    EXPECT_EQ(kernel_kind(name), KernelKind::communication) << name;
  for (const char* name :
       {"void at::native::vectorized_elementwise_kernel<4>(int)", "ampere_sgemm_128x64_tn", "", "Memcpy"})
    EXPECT_EQ(kernel_kind(name), KernelKind::compute) << name;
  for (const char* name : {"my_nccl_helper", "void vllm::cross_device_reduce_1stage_AllReduce<half>()",
                           "one_shot_all_reduce_kernel", "NCCLkernel", "flashinfer::trtllm_allreduce_fusion",
                           "void ncclsomething::kernel()", "deepep::all_to_all", "xncclKernel"})
    EXPECT_EQ(kernel_kind(name), KernelKind::unclassified) << name;
}

TEST(ProfilerStep, ReadsTheNumber) {
  EXPECT_EQ(profiler_step("ProfilerStep#551"), 551);
  EXPECT_EQ(profiler_step("ProfilerStep#0"), 0);
  for (const char* name : {"ProfilerStep#", "ProfilerStep#-1", "ProfilerStep#1x", "ProfilerStep",
                           "xProfilerStep#1", "ProfilerStep#99999999999999999999", ""})
    EXPECT_EQ(profiler_step(name), std::nullopt) << name;
}

TEST(LaunchesWork, TellsLaunchesFromQueries) {
  for (const char* name : {"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx",
                           "cudaMemcpyAsync", "cudaMemsetAsync", "cudaGraphLaunch", "hipLaunchKernel",
                           "cudaLaunchCooperativeKernel", "urEnqueueKernelLaunch"})
    EXPECT_TRUE(launches_work(name)) << name;
  for (const char* name : {"cudaEventQuery", "cudaStreamSynchronize", "cudaDeviceSynchronize",
                           "cudaStreamIsCapturing", "INVALID"})
    EXPECT_FALSE(launches_work(name)) << name;
}

}  // namespace
}  // namespace lockstep::analyzer::kineto

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "tracer/inject/sources/cupti/activity_names.h"
#include "tracer/inject/sources/cupti/api_selection.h"
#include "tracer/inject/sources/cupti/kernel_names.h"
#include "tracer/inject/sources/cupti/neighbours.h"

namespace lockstep::tracer::cupti {
namespace {

using testing::HasSubstr;
using trace::ActivityClass;

TEST(KernelNames, CommunicationIsToldByName) {
  for (const char* name :
       {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
        "void ncclKernel_Broadcast_RING(x)",
        "ncclSymkDevKernel_ReduceScatter_LL_sum_f32(ncclSymkDevWorkArgs4K)",
        "rcclGenericKernel<1, true>(ncclDevKernelArgsStorage<4096ul>)", "mscclKernel_Sum_half_Simple_false",
        "void mscclpp::collective::allreduceNvls<float>(float*)",
        "void deep_ep::internode_ll::dispatch<true, 7168>(void*)",
        "void vllm::cross_device_reduce_2stage<__half, 8>(vllm::RankData*)"}) {
    EXPECT_EQ(class_of_kernel(name), ActivityClass::collective) << name;
  }
  EXPECT_EQ(class_of_kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"), ActivityClass::p2p);
  EXPECT_EQ(class_of_kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)"), ActivityClass::p2p);
  for (const char* name : {"ampere_sgemm_128x64_tn", "void at::native::elementwise_kernel<4>(ncclKernel)",
                           "ncclTopo", "my_ncclKernel", "_fused_matmul_reduce_scatter_kernel", "", "void "}) {
    EXPECT_EQ(class_of_kernel(name), ActivityClass::compute) << name;
  }
}

TEST(KernelNames, AreDemangledAndCut) {
  EXPECT_EQ(demangled("_Z6matmulPfi"), "matmul(float*, int)");
  EXPECT_EQ(demangled("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
  EXPECT_EQ(demangled("_Z"), "_Z");
  EXPECT_EQ(demangled(""), "");
}

TEST(KernelNames, TextIsReadWhereverItIs) {
  constexpr std::size_t kPage = 4096;
  auto* const memory = static_cast<char*>(
      mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<void*>(memory), MAP_FAILED);
  std::string text;
  // Across two pages, and up to the last byte before memory that is not there.
  std::strcpy(memory + kPage - 3, "abcdef");
  EXPECT_TRUE(read_text(memory + kPage - 3, text));
  EXPECT_EQ(text, "abcdef");
  ASSERT_EQ(munmap(memory + 2 * kPage, kPage), 0);
  std::strcpy(memory + 2 * kPage - 4, "xyz");
  EXPECT_TRUE(read_text(memory + 2 * kPage - 4, text));
  EXPECT_EQ(text, "xyz");
  EXPECT_FALSE(read_text(memory + 2 * kPage, text));
  EXPECT_FALSE(read_text(nullptr, text));
  EXPECT_FALSE(read_text(reinterpret_cast<const char*>(8), text));
  std::memset(memory, 'k', 2 * kPage);
  EXPECT_TRUE(read_text(memory, text));
  EXPECT_EQ(text, std::string(kLongestName, 'k'));
  munmap(memory, 2 * kPage);
}

TEST(ApiSelection, PlainNames) {
  EXPECT_EQ(plain_call_name("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(plain_call_name("cudaMemcpyAsync_ptsz_v7000"), "cudaMemcpyAsync");
  EXPECT_EQ(plain_call_name("cuMemcpyHtoDAsync_v2_ptsz"), "cuMemcpyHtoDAsync");
  EXPECT_EQ(plain_call_name("cuStreamSynchronize"), "cuStreamSynchronize");
  EXPECT_EQ(plain_call_name("cuCtxSynchronize_v2"), "cuCtxSynchronize");
  EXPECT_EQ(plain_call_name(""), "");
}

TEST(ApiSelection, LaunchesCopiesFillsAndWaits) {
  for (const char* name :
       {"cudaLaunchKernel", "__cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchCooperativeKernel",
        "cuLaunchKernelEx", "cuLaunchHostFunc", "cudaGraphLaunch", "cuGraphLaunch", "cudaMemcpy2DAsync",
        "cudaMemcpyPeerAsync", "cuMemcpyBatchAsync", "cu64MemcpyHtoD", "cudaMemsetAsync", "cuMemsetD2D8Async",
        "cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cuCtxSynchronize"}) {
    EXPECT_TRUE(is_recorded_by_default(name)) << name;
  }
  for (const char* name : {"cudaGetDevice", "cudaEventQuery", "cudaMalloc", "cudaGraphAddMemcpyNode",
                           "cudaEventRecord", "cuMemGetInfo", "cudaStreamWaitEvent", "cuDriverGetVersion",
                           "cudaMemSetMemPool", "", "cu", "MemcpyAsync"}) {
    EXPECT_FALSE(is_recorded_by_default(name)) << name;
  }
}

TEST(ActivityNames, CopiesFillsAndWaits) {
  EXPECT_EQ(copy_name(1, 1, 3), "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(copy_name(200, 200, 200), "Memcpy (Unknown -> Unknown)");
  EXPECT_EQ(peer_copy_name(0, 3), "Memcpy PtoP (GPU 0 -> GPU 3)");
  EXPECT_EQ(fill_name(3), "Memset (Device)");
  EXPECT_EQ(synchronization_name(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, 7, 20),
            "Stream Wait Event (stream 7 waits for stream 20)");
  EXPECT_EQ(synchronization_name(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE,
                                 CUPTI_SYNCHRONIZATION_INVALID_VALUE, CUPTI_SYNCHRONIZATION_INVALID_VALUE),
            "Context Synchronize");
}

TEST(CuptiLibrary, TheCopyInTheProcessIsPreferred) {
  const std::vector<std::string> loaded{"/lib/libc.so.6", "/venv/nvidia/cuda_runtime/lib/libcudart.so.12",
                                        "/venv/nvidia/cuda_cupti/lib/libcupti.so.12"};
  EXPECT_EQ(library_candidates(nullptr, loaded).front(), "/venv/nvidia/cuda_cupti/lib/libcupti.so.12");
  EXPECT_EQ(library_candidates("/my/libcupti.so", loaded), std::vector<std::string>{"/my/libcupti.so"});
  EXPECT_EQ(library_candidates(nullptr, {}).front(), "libcupti.so.13");
  EXPECT_EQ(library_candidates(nullptr, {loaded[1]}).front(), "/venv/nvidia/cuda_runtime/lib/libcupti.so.13");
}

TEST(Neighbours, NsightIsSeen) {
  const auto none = [](const char*) -> const char* { return nullptr; };
  const auto session = [](const char* name) -> const char* {
    return std::strcmp(name, "NSYS_PROFILING_SESSION_ID") == 0 ? "7" : nullptr;
  };
  EXPECT_EQ(nsight_in_process(none, {"/lib/libc.so.6", "/usr/lib/libcuda.so.1"}), "");
  EXPECT_THAT(nsight_in_process(session, {}), HasSubstr("NSYS_PROFILING_SESSION_ID"));
  EXPECT_THAT(nsight_in_process(none, {"/opt/nsight/libToolsInjection64.so"}),
              HasSubstr("libToolsInjection64.so"));
}

}  // namespace
}  // namespace lockstep::tracer::cupti

#include "trace/events/communication_names.h"

#include <gtest/gtest.h>

#include <string>

namespace lockstep::trace {
namespace {

struct Known {
  const char* name;
  const char* library;
  Operation operation;
  bool computes = false;
};

// As profilers print them, one or more of each library.
constexpr Known kKernels[] = {
    {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "NCCL",
     Operation::all_reduce},
    {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", "NCCL",
     Operation::send_recv},
    {"ncclSymkDevKernel_AllGather_ST(ncclSymkDevWorkArgs4K)", "NCCL", Operation::all_gather},
    {"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", "NCCL", Operation::unknown},
    {"rcclGenericKernel<1, true>(ncclDevKernelArgsStorage<4096ul>)", "RCCL", Operation::unknown},
    {"mscclKernel_Sum_half_Simple_false", "MSCCL", Operation::unknown},
    {"void mscclpp::collective::allreduceNvls<float>(float*)", "MSCCL++", Operation::all_reduce},
    {"void allreduce_LL_2node<__half>(mscclpp::MemoryChannelDeviceHandle*, int)", "MSCCL++",
     Operation::all_reduce},
    {"allreduce7(mscclpp::MemoryChannelDeviceHandle*, int*)", "MSCCL++", Operation::all_reduce},
    {"allgather6(void*, unsigned long)", "MSCCL++", Operation::all_gather},
    {"void nvshmemi_proxy_rma_entrypoint_blocking<(nvshmemi_op_t)1>(void*, void*, rma_bytesdesc, int)",
     "NVSHMEM", Operation::unknown},
    {"void allreduce_kernel_vec32<NvlsFp32Ops>(ucc_tl_cuda_nvls_control*, unsigned int)", "UCC",
     Operation::all_reduce},
    {"allgatherv_kernel_vec32(ucc_tl_cuda_nvls_control*, unsigned int*)", "UCC", Operation::all_gather},
    {"oneccl_allreduce_small", "oneCCL", Operation::all_reduce},
    {"void deep_ep::intranode::dispatch<8, 768, 8192>(int4*, float*)", "DeepEP", Operation::all_to_all},
    {"void deep_ep::internode_ll::combine<true, 7168, 9>(void*)", "DeepEP", Operation::all_to_all},
    {"void deep_ep::intranode::notify_dispatch<8>(int const*, int*)", "DeepEP", Operation::all_to_all},
    {"void deep_ep::intranode::cached_notify_combine<2>(void**)", "DeepEP", Operation::all_to_all},
    {"void deep_ep::intranode::barrier<8>(int**, int)", "DeepEP", Operation::barrier},
    {"void hybrid_ep::dispatch_kernel<unsigned char, 4>(hybrid_ep::dispatch_kernel_param_t<unsigned char>)",
     "DeepEP", Operation::all_to_all},
    {"void "
     "mori::moe::EpDispatchIntraNodeKernel<hip_bfloat16>(mori::moe::EpDispatchCombineArgs<hip_bfloat16>)",
     "MORI", Operation::all_to_all},
    {"void a2a_kernels::a2a_combine_recv_kernel<16, 8>(unsigned long)", "pplx-kernels",
     Operation::all_to_all},
    {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, vllm::RankSignals)",
     "vLLM, SGLang", Operation::all_reduce},
    {"void sglang::cross_device_reduce_2stage<__half, 8>(sglang::RankData*, int)", "vLLM, SGLang",
     Operation::all_reduce},
    {"quickreduce::allreduce_prototype_twoshot<AllReduceTwoshot<__half, CodecQ4<__half, 4>, true>, __half>",
     "QuickReduce", Operation::all_reduce},
    {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<"
     "(flashinfer::trtllm_allreduce_fusion::AllReduceFusionPattern)1, __nv_bfloat16, 8, false, false>(int)",
     "TensorRT-LLM", Operation::all_reduce},
    {"moefinalize_allreduce_fusion_kernel_oneshot_lamport", "TensorRT-LLM", Operation::all_reduce},
    {"void tensorrt_llm::kernels::twoShotAllReduceKernel<__half, 8, true>(tensorrt_llm::Params)",
     "one- or two-shot all-reduce", Operation::all_reduce},
    {"void tensorrt_llm::kernels::moe_comm::moeA2ADispatchKernel<x>(x)", "TensorRT-LLM",
     Operation::all_to_all},
    {"void flashinfer::trtllm_alltoall::moeAllToAllKernel<true>(x)", "TensorRT-LLM", Operation::all_to_all},
    {"void flashinfer::mixed_comm::fused_reducescatter_allreduce_kernel<8>(x)", "FlashInfer",
     Operation::reduce_scatter},
    {"void flashinfer::trtllm_mnnvl_allreduce::rmsNormLamport<8>(x)", "TensorRT-LLM", Operation::all_reduce,
     true},
    {"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*, unsigned "
     "long)",
     "PyTorch symmetric memory", Operation::all_reduce},
    {"void <unnamed>::multimem_all_gather_kernel<16>(char*, char*, unsigned long)",
     "PyTorch symmetric memory", Operation::all_gather},
    {"void (anonymous namespace)::multimem_one_shot_reduce_kernel<float, 16>(float*)",
     "PyTorch symmetric memory", Operation::reduce},
    {"void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<c10::BFloat16, 16, 2>(c10::BFloat16**)",
     "one- or two-shot all-reduce", Operation::all_reduce},
    {"c10d::symmetric_memory::barrier_kernel(unsigned int**, int, int, int, unsigned long)",
     "PyTorch symmetric memory", Operation::barrier},
    {"c10d::symmetric_memory::wait_signal_kernel(unsigned int**, int, int)", "PyTorch symmetric memory",
     Operation::recv},
    {"c10d::nvshmem_extension::exchangeSplitAndOffset(long*, int, int)", "NVSHMEM", Operation::all_to_all},
    {"c10d::nvshmem_extension::allToAllV(void*, void*, long*)", "NVSHMEM", Operation::all_to_all},
    {"void barrier_on_stream_kernel_threadgroup<(threadgroup_t)2>(int, int)", "NVSHMEM", Operation::barrier},
    {"void rdxn_on_stream_kernel<float, (rdxn_ops)2>(int, float*, float const*)", "NVSHMEM",
     Operation::all_reduce},
    {"void userbuffers_fp16_sum_inplace_gpu_rr_rs_oop<8>(int, int, int)", "Transformer Engine",
     Operation::reduce_scatter},
    {"void userbuffers_fp16_sum_inplace_gpu_mc_ag<8>(int)", "Transformer Engine", Operation::all_gather},
    {"void userbuffers_fp16_sum_inplace_gpu_rw<4>(int)", "Transformer Engine", Operation::all_reduce},
    {"kuserbuffers_pushsendrecv(int*, int*, int, int)", "Transformer Engine", Operation::send_recv},
    {"kuserbuffers_pushsend(int*, int*)", "Transformer Engine", Operation::send},
    {"_fused_matmul_reduce_scatter_kernel", "fused GEMM", Operation::reduce_scatter, true},
    {"all_gather_gemm_kernel", "fused GEMM", Operation::all_gather, true},
    {"void cutlass::device_kernel<bytedance::flux::Sm90GemmReduceScatter<x>>(x::Params)", "CUTLASS",
     Operation::reduce_scatter, true},
};

TEST(CommunicationKernel, IsKnownByTheNamesOfItsLibrary) {
  for (const Known& known : kKernels) {
    const auto found = communication_kernel(known.name);
    ASSERT_TRUE(found.has_value()) << known.name;
    EXPECT_STREQ(found->library, known.library) << known.name;
    EXPECT_EQ(found->operation, known.operation) << known.name << ": " << to_string(found->operation);
    EXPECT_EQ(found->computes, known.computes) << known.name;
  }
}

TEST(CommunicationKernel, OthersAreNone) {
  for (const char* name :
       {"", "void ", "(", "<unnamed>::", "ampere_sgemm_128x64_tn", "ncclTopo", "my_ncclKernel",
        "void at::native::vectorized_elementwise_kernel<4>(int)",
        "void at::native::elementwise_kernel<4>(ncclKernel)",
        // Local work around an exchange.
        "void deep_ep::layout::get_dispatch_layout<256, 4, 8>(long const*, int*)",
        "void tensorrt_llm::kernels::computeSendRecvIndicesKernel(int)", "lamport_initialize_kernel<float>",
        // Inductor's names speak of the operators around a kernel.
        "triton_poi_fused_add_all_reduce_4", "triton_red_fused__to_copy_all_gather_into_tensor_0",
        "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<x>>(x)",
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(x)",
        "void at::native::_scatter_gather_elementwise_kernel<128, 8>(int)", "dispatch", "combine",
        "void vllm::moe::combine_kernel<8>()"})
    EXPECT_FALSE(communication_kernel(name).has_value()) << name;
}

TEST(CommunicationRange, IsKnownByItsPrefix) {
  const Known ranges[] = {{"nccl:all_reduce", "NCCL", Operation::all_reduce},
                          {"nccl:recv 0<-1", "NCCL", Operation::recv},
                          {"gloo:all_gather", "Gloo", Operation::all_gather},
                          {"ucc:barrier", "UCC", Operation::barrier},
                          {"xccl:reduce_scatter", "oneCCL", Operation::reduce_scatter},
                          {"mpi:broadcast", "MPI", Operation::broadcast},
                          {"MPI_Allreduce", "MPI", Operation::all_reduce},
                          {"MPI_Waitall", "MPI", Operation::unknown},
                          {"MPI_Get", "MPI", Operation::unknown},
                          {"c10d::_allgather_base_", "PyTorch", Operation::all_gather},
                          {"_c10d_functional::reduce_scatter_tensor", "PyTorch", Operation::reduce_scatter},
                          {"c10d_functional::all_reduce", "PyTorch", Operation::all_reduce},
                          {"oneccl_bindings_for_pytorch::allreduce", "oneCCL", Operation::all_reduce},
                          {"torch_ccl::allgather", "oneCCL", Operation::all_gather},
                          {"vllm::all_reduce", "vLLM", Operation::all_reduce}};
  for (const Known& known : ranges) {
    const auto found = communication_range(known.name);
    ASSERT_TRUE(found.has_value()) << known.name;
    EXPECT_STREQ(found->library, known.library) << known.name;
    EXPECT_EQ(found->operation, known.operation) << known.name;
  }
  for (const char* name : {"aten::gather", "DistributedDataParallel.forward", "", "all_reduce", "MPIX",
                           "MPI_Init", "MPI_Init_thread", "MPI_Comm_rank", "MPI_Type_create_struct",
                           "MPI_Get_count", "MPI_File_read_all", "MPI_Wtime", "vllm::unified_attention"})
    EXPECT_FALSE(communication_range(name).has_value()) << name;
}

// As profilers print names that nobody demangled, or that were cut.
TEST(CommunicationKernel, IsKnownByItsMangledName) {
  const Known kernels[] = {
      {"_ZN7deep_ep9intranode8dispatchILi8ELi768EEEvPf", "DeepEP", Operation::all_to_all},
      {"_ZN4vllm26cross_device_reduce_1stageI6__halfLi2EEEvPN4vllm", "vLLM, SGLang", Operation::all_reduce},
      {"_ZN12_GLOBAL__N_126multimem_all_reduce_kernelE", "PyTorch symmetric memory", Operation::all_reduce},
      {"_Z37ncclDevKernel_AllReduce_Sum_f32_RING_v", "NCCL", Operation::all_reduce},
      {"_Z15executor_kernelILb1EEvPV20ucc_ec_cuda_executori", "UCC", Operation::unknown},
      {"void executor_kernel<true>(ucc_ec_cuda_executor volatile*, int)", "UCC", Operation::unknown}};
  for (const Known& known : kernels) {
    const auto found = communication_kernel(known.name);
    ASSERT_TRUE(found.has_value()) << known.name;
    EXPECT_STREQ(found->library, known.library) << known.name;
    EXPECT_EQ(found->operation, known.operation) << known.name;
  }
  for (const char* name :
       {"_ZN7deep_ep6layout19get_dispatch_layoutILi256EEEvPl", "_ZN2at6native13reduce_kernelILi512EEEvT_",
        "_Z8dispatchv", "_Z", "_ZN", "_ZN999999999999999999999999a", "_ZN0", "_ZN7deep_ep8dispat",
        "void executor_kernel<true>(int)"})
    EXPECT_FALSE(communication_kernel(name).has_value()) << name;
  EXPECT_EQ(operation_in_name("_ZN2my4ringI9AllGatherEEvv"), Operation::unknown);
}

TEST(CommunicationRange, LastsForAllOfItOrForACall) {
  using Span = CommunicationName::Span;
  EXPECT_EQ(communication_range("gloo:all_reduce")->span, Span::whole);
  EXPECT_EQ(communication_range("oneccl_bindings_for_pytorch::allreduce")->span, Span::call);
  EXPECT_EQ(communication_range("c10d::allreduce_")->span, Span::issue);
}

TEST(LooksLikeCommunication, WhereANameSpeaksOfIt) {
  for (const char* name : {"my_nccl_helper", "deepep::all_to_all", "flashinfer::trtllm_allreduce_fusion",
                           "xncclKernel", "NCCLkernel", "void f<AllGather>()", "nvshmem_thing"})
    EXPECT_TRUE(looks_like_communication(name)) << name;
  for (const char* name : {"", "ampere_sgemm_128x64_tn", "triton_poi_fused_add_all_reduce_4", "Memcpy"})
    EXPECT_FALSE(looks_like_communication(name)) << name;
}

// Names come from strangers' files.
TEST(CommunicationKernel, EndsForAnyName) {
  std::string name;
  for (const char* part :
       {"void ", "(anonymous namespace)", "::", "<unnamed>", "nccl", "(", "<", "_", "all_"}) {
    name += part;
    for (int repeated = 0; repeated < 8; ++repeated) {
      (void)communication_kernel(name);
      (void)communication_range(name);
      (void)looks_like_communication(name);
      (void)operation_in_name(name);
      name += part;
    }
  }
}

}  // namespace
}  // namespace lockstep::trace

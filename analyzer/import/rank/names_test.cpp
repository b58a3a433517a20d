#include "analyzer/import/rank/names.h"

#include <gtest/gtest.h>

#include <iterator>
#include <optional>
#include <utility>

#include "analyzer/import/rank/file_name.h"
#include "analyzer/import/rank/rank_list.h"

namespace lockstep::analyzer {
namespace {

using trace::Operation;

TEST(KernelKind, FollowsTheDefinition) {
  for (const char* name :
       {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
        "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "ncclSymkDevKernel_AllGather_ST",
        "ncclAllReduceRingLLKernel_sum_f32", "void ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*)",
        "rcclKernel_AllReduce", "mscclKernel_Sum_float", "ncclDevKernel_Generic_4",
        "void vllm::cross_device_reduce_1stage_AllReduce<half>()", "one_shot_all_reduce_kernel"})
    EXPECT_EQ(kernel_name(name).kind, KernelKind::communication) << name;
  for (const char* name :
       {"void at::native::vectorized_elementwise_kernel<4>(int)", "ampere_sgemm_128x64_tn", "", "Memcpy"})
    EXPECT_EQ(kernel_name(name).kind, KernelKind::compute) << name;
  for (const char* name : {"my_nccl_helper", "NCCLkernel", "flashinfer::trtllm_allreduce_fusion",
                           "void ncclsomething::kernel()", "deepep::all_to_all", "xncclKernel"})
    EXPECT_EQ(kernel_name(name).kind, KernelKind::unclassified) << name;
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

TEST(OperationInName, KnowsKernelsCollectivesAndRanges) {
  const std::pair<const char*, Operation> expected[] = {
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", Operation::all_reduce},
      {"ncclKernel_ReduceScatter_RING_LL_Sum_float", Operation::reduce_scatter},
      {"ncclKernel_AllGather_RING_LL_Sum_int8_t", Operation::all_gather},
      {"ncclKernel_Broadcast_RING_LL_Sum_int8_t", Operation::broadcast},
      {"ncclKernel_Reduce_RING_LL_Sum_float", Operation::reduce},
      {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
       Operation::send_recv},
      {"allreduce", Operation::all_reduce},
      {"_allgather_base", Operation::all_gather},
      {"allgather_into_tensor_coalesced", Operation::all_gather},
      {"_reduce_scatter_base", Operation::reduce_scatter},
      {"reduce_scatter_tensor_coalesced", Operation::reduce_scatter},
      {"all_to_allv", Operation::all_to_all},
      {"alltoall_base", Operation::all_to_all},
      {"_broadcast_oop", Operation::broadcast},
      {"gather", Operation::gather},
      {"scatter", Operation::scatter},
      {"barrier", Operation::barrier},
      {"nccl:all_reduce_barrier", Operation::barrier},
      {"nccl:_all_gather_base", Operation::all_gather},
      {"nccl:send 0->1", Operation::send},
      {"nccl:recv 1<-0", Operation::recv},
      {"nccl:coalesced", Operation::unknown},
      {"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", Operation::unknown},
      {"void mscclpp::collective::allreduceRsAg<__half>(void*)", Operation::all_reduce},
      {"", Operation::unknown}};
  for (const auto& [name, operation] : expected) EXPECT_EQ(operation_in_name(name), operation) << name;
}

TEST(NamesDataLoading, IsAnyCaseWithOrWithoutUnderscore) {
  for (const char* name :
       {"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "data_loader", "DATALOADER",
        "torch/utils/data/dataloader.py(621): __next__", "my Data_Loader step"})
    EXPECT_TRUE(names_data_loading(name)) << name;
  for (const char* name :
       {"data loader", "loader", "data__loader", "dataload", "", "ataloader", "data-loader"})
    EXPECT_FALSE(names_data_loading(name)) << name;
}

TEST(DataTypeOf, KnowsC10sNames) {
  EXPECT_EQ(data_type_of("Float"), trace::DataType::float32);
  EXPECT_EQ(data_type_of("BFloat16"), trace::DataType::bfloat16);
  EXPECT_EQ(data_type_of("Float8_e4m3fn"), trace::DataType::float8_e4m3);
  EXPECT_EQ(data_type_of("Long"), trace::DataType::int64);
  EXPECT_EQ(data_type_of("Quark"), trace::DataType::unknown);
}

TEST(RankInFileName, TakesTheNumberBehindRankOrWorker) {
  const std::pair<const char*, int> expected[] = {
      {"rank-3.json", 3},          {"runs/rank_7/trace_rank12.json.gz", 12},
      {"Rank=5.pt.trace.json", 5}, {"worker3_step_12.1694128201545.pt.trace.json", 3},
      {"worker11_rank2.json", 2},  {"trace_3.json", 3},
      {"trace-14.json.gz", 14},    {"9.json", 9},
      {"nccl_trace_rank_6", 6},    {"comm_lib_trace_rank_7", 7}};
  for (const auto& [name, rank] : expected) EXPECT_EQ(rank_in_file_name(name), rank) << name;
  for (const char* name : {"trace.json", "rank.json", "rank7/trace.json", "host7.json", "a_b.3.json", "",
                           "trace_99999999999.json", "frankfurt.json", "rank-x3.json", "rank_1016003",
                           "worker_30211", "step_1024.json"})
    EXPECT_EQ(rank_in_file_name(name), std::nullopt) << name;
}

TEST(RankList, IsReadFromTextAndCutOnesAreTold) {
  EXPECT_EQ(parse_ranks("[0, 8, 16]").ranks, (std::vector<std::int32_t>{0, 8, 16}));
  EXPECT_FALSE(parse_ranks("[0, 8, 16]").cut);
  EXPECT_EQ(parse_ranks("3,1").ranks, (std::vector<std::int32_t>{3, 1})) << "in the order of the group";
  EXPECT_TRUE(parse_ranks("[0, 1, ...]").cut);
  EXPECT_TRUE(parse_ranks("all").cut);
  EXPECT_TRUE(parse_ranks("[99999999999]").cut);
  EXPECT_TRUE(parse_ranks("").ranks.empty());
}

TEST(NameComesBefore, SortsAsPeopleDo) {
  const char* const sorted[] = {"a/rank-01.json", "a/rank-1.json",  "a/rank-1-copy.json",
                                "a/rank-2.json",  "a/rank-10.json", "a/rank-10 (1).gz",
                                "a.json",         "ab/rank-0.json"};
  for (std::size_t i = 0; i < std::size(sorted); ++i)
    for (std::size_t j = 0; j < std::size(sorted); ++j)
      EXPECT_EQ(name_comes_before(sorted[i], sorted[j]), i < j) << sorted[i] << " and " << sorted[j];
}

}  // namespace
}  // namespace lockstep::analyzer

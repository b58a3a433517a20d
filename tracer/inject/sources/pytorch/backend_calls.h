// The virtual functions by which c10d hands collectives and messages to a backend, and what stands in for
// them: a function that notes the call and passes it on.
//
// backend_calls.cpp is compiled without exceptions: one that is thrown by PyTorch passes through its frames
// as if they were not there.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trace/events/event.h"
#include "tracer/inject/sources/pytorch/records.h"

namespace lockstep::tracer::pytorch {

// What a method returns, c10::intrusive_ptr<Work>: one pointer in an object with a destructor, so that it
// comes back in memory. Ours does nothing when it is copied or destroyed: the count of references is passed
// through.
struct WorkHandle {
  void* work = nullptr;
  WorkHandle(const WorkHandle& other) noexcept : work(other.work) {}  // NOLINT(modernize-use-equals-default)
  ~WorkHandle() {}                                                    // NOLINT(modernize-use-equals-default)
};

// Any of the methods: up to five arguments, each a reference or an integer in a register (the fifth on the
// stack). Passing on more than a method takes is harmless.
using Call = WorkHandle (*)(void* self, void* a, void* b, void* c, void* d, void* e);

// How the larger side of an operation is found in its arguments (nccl-tests' sizes, docs/metrics.md).
enum class Sized : std::uint8_t {
  first,             // the first argument: a list of tensors
  second_list,       // the second: a list of tensors
  second_list_by_n,  // the second, times the ranks
  first_list_by_n,   // the first, times the ranks
  first_tensor,      // the first: one tensor
  second_tensor,     // the second: one tensor
  larger_tensor,     // the larger of the first two
  larger_list,       // the same of lists
  nothing,
};

enum class Peer : std::uint8_t { none, root_in_second, root_in_third, root_of_reduce, second_argument };

struct Method {
  const char* name;  // mangled, after the class
  trace::Operation operation;
  Sized sized;
  Peer peer;
};

// Mangled names as in torch 2.4 to 2.11, the same for all backends.
constexpr std::array<Method, 18> kMethods{{
    {"9allreduceERSt6vectorIN2at6TensorESaIS3_EERKNS_16AllreduceOptionsE", trace::Operation::all_reduce,
     Sized::first, Peer::none},
    {"19allreduce_coalescedERSt6vectorIN2at6TensorESaIS3_EERKNS_25AllreduceCoalescedOptionsE",
     trace::Operation::all_reduce, Sized::first, Peer::none},
    {"9broadcastERSt6vectorIN2at6TensorESaIS3_EERKNS_16BroadcastOptionsE", trace::Operation::broadcast,
     Sized::first, Peer::root_in_second},
    {"6reduceERSt6vectorIN2at6TensorESaIS3_EERKNS_13ReduceOptionsE", trace::Operation::reduce, Sized::first,
     Peer::root_of_reduce},
    {"9allgatherERSt6vectorIS1_IN2at6TensorESaIS3_EESaIS5_EERS5_RKNS_16AllgatherOptionsE",
     trace::Operation::all_gather, Sized::second_list_by_n, Peer::none},
    {"15_allgather_baseERN2at6TensorES3_RKNS_16AllgatherOptionsE", trace::Operation::all_gather,
     Sized::first_tensor, Peer::none},
    {"19allgather_coalescedERSt6vectorIS1_IN2at6TensorESaIS3_EESaIS5_EERS5_RKNS_16AllgatherOptionsE",
     trace::Operation::all_gather, Sized::second_list_by_n, Peer::none},
    {"31allgather_into_tensor_coalescedERSt6vectorIN2at6TensorESaIS3_EES6_RKNS_16AllgatherOptionsE",
     trace::Operation::all_gather, Sized::first, Peer::none},
    {"6gatherERSt6vectorIS1_IN2at6TensorESaIS3_EESaIS5_EERS5_RKNS_13GatherOptionsE", trace::Operation::gather,
     Sized::second_list_by_n, Peer::root_in_third},
    {"7scatterERSt6vectorIN2at6TensorESaIS3_EERS1_IS5_SaIS5_EERKNS_14ScatterOptionsE",
     trace::Operation::scatter, Sized::first_list_by_n, Peer::root_in_third},
    {"14reduce_scatterERSt6vectorIN2at6TensorESaIS3_EERS1_IS5_SaIS5_EERKNS_20ReduceScatterOptionsE",
     trace::Operation::reduce_scatter, Sized::first_list_by_n, Peer::none},
    {"20_reduce_scatter_baseERN2at6TensorES3_RKNS_20ReduceScatterOptionsE", trace::Operation::reduce_scatter,
     Sized::second_tensor, Peer::none},
    {"31reduce_scatter_tensor_coalescedERSt6vectorIN2at6TensorESaIS3_EES6_RKNS_20ReduceScatterOptionsE",
     trace::Operation::reduce_scatter, Sized::second_list, Peer::none},
    {"13alltoall_baseERN2at6TensorES3_RSt6vectorIlSaIlEES7_RKNS_15AllToAllOptionsE",
     trace::Operation::all_to_all, Sized::larger_tensor, Peer::none},
    {"8alltoallERSt6vectorIN2at6TensorESaIS3_EES6_RKNS_15AllToAllOptionsE", trace::Operation::all_to_all,
     Sized::larger_list, Peer::none},
    {"7barrierERKNS_14BarrierOptionsE", trace::Operation::barrier, Sized::nothing, Peer::none},
    {"4sendERSt6vectorIN2at6TensorESaIS3_EEii", trace::Operation::send, Sized::first, Peer::second_argument},
    {"4recvERSt6vectorIN2at6TensorESaIS3_EEii", trace::Operation::recv, Sized::first, Peer::second_argument},
}};

struct BackendClass {
  const char* name;    // as PyTorch names the backend
  const char* prefix;  // of its mangled methods
  const char* library;
  Ends ends;  // of its collectives
};
// Those that c10d has, each in the library that PyTorch's build puts it into: UCC beside NCCL, whatever the
// device of its tensors.
constexpr std::array<BackendClass, 5> kClasses{{
    {"gloo", "_ZN4c10d16ProcessGroupGloo", "libtorch_cpu.so", Ends::queued},
    {"nccl", "_ZN4c10d16ProcessGroupNCCL", "libtorch_cuda.so", Ends::on_device},
    {"xccl", "_ZN4c10d16ProcessGroupXCCL", "libtorch_xpu.so", Ends::on_device},
    {"mpi", "_ZN4c10d15ProcessGroupMPI", "libtorch_cpu.so", Ends::finished},
    {"ucc", "_ZN4c10d15ProcessGroupUCC", "libtorch_cuda.so", Ends::waited},
}};
// [class][method]: where calls go on to (set before an entry is replaced), and what replaces the entries.
extern std::array<std::array<std::atomic<Call>, kMethods.size()>, kClasses.size()> originals;
extern const std::array<std::array<Call, kMethods.size()>, kClasses.size()> kReplacements;

// Of c10d's ReduceOptions: the root, a rank of the group; -1 where there is none to be told. Reads 56 bytes.
std::int32_t root_of_reduce(const void* options);

// From now on calls of this backend object, a group of `size` ranks, are noted. An
// address that was a group's before begins anew. False if there are too many groups.
bool follow_group(void* backend, std::uint32_t size) noexcept;

// The call that the calling thread is in (0: none), for work that is enqueued meanwhile: counts it.
std::uint64_t note_enqueued_work() noexcept;
// The call of a send or receive that the calling thread is in; 0: none.
std::uint64_t current_message() noexcept;

}  // namespace lockstep::tracer::pytorch

// liblockstep-nccl.so: see nccl_backend.h.
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "reference_trainer/distributed/nccl_backend.h"

extern "C" __attribute__((visibility("default"))) void lockstep_make_nccl_backend(
    const c10::intrusive_ptr<c10d::Store>& store, int rank, int size, std::chrono::milliseconds timeout,
    c10::intrusive_ptr<c10d::Backend>& made) {
  const auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  made = c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, size, options);
}

// It is called through the type that the header gives.
static_assert(std::is_same_v<decltype(lockstep_make_nccl_backend), lockstep::trainer::MakeNcclBackend>);

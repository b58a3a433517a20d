// c10d's NCCL backend, from a library of its own that is loaded when it is asked for: it needs libtorch's
// CUDA half, which the trainer otherwise does without.
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <chrono>

namespace c10d {
class Backend;
class Store;
}  // namespace c10d

namespace lockstep::trainer {

// Throws std::runtime_error where the library cannot be loaded, and c10d's exceptions.
c10::intrusive_ptr<c10d::Backend> make_nccl_backend(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                                    int size, std::chrono::milliseconds timeout);

// What that library holds (nccl_plugin.cpp).
inline constexpr const char* kNcclPlugin = "liblockstep-nccl.so";
inline constexpr const char* kMakeNcclBackend = "lockstep_make_nccl_backend";
using MakeNcclBackend = void(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                             std::chrono::milliseconds timeout, c10::intrusive_ptr<c10d::Backend>& made);

}  // namespace lockstep::trainer

#include "reference_trainer/distributed/native_collectives.h"

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

namespace lockstep::trainer {
namespace {

// A backend may give no Work for what it runs on the current stream.
void order(const c10::intrusive_ptr<c10d::Work>& work) {
  if (work) work->wait();
}

}  // namespace

void run_native(c10d::Backend& backend, trace::Operation operation, at::Tensor whole) {
  const std::int64_t elements = whole.numel() / backend.getSize();
  at::Tensor part = whole.narrow(0, backend.getRank() * elements, elements);
  // asyncOp false: on the current stream, not on one of the backend's.
  if (operation == trace::Operation::all_gather) {
    order(backend._allgather_base(whole, part, {.asyncOp = false}));
  } else if (operation == trace::Operation::reduce_scatter) {
    order(backend._reduce_scatter_base(part, whole, {.asyncOp = false}));
  } else {
    std::vector<at::Tensor> tensors{whole};
    order(backend.allreduce(tensors, {.asyncOp = false}));
  }
}

}  // namespace lockstep::trainer

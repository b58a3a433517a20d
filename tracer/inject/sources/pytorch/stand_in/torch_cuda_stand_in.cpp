// The stand-in libtorch_cuda.so: the process group of UCC as ProcessGroupUCC is. Another thread would
// complete its works, and says so to nobody; here the wait for one completes it. Work of a device is not
// waited for. A wait that may take 1 ms takes too long.
#include <stdexcept>

#include "tracer/inject/sources/pytorch/stand_in/c10d.h"

namespace c10d {

class STAND_IN_API ProcessGroupUCC : public Backend {
 public:
  class STAND_IN_API WorkUCC : public Work {
   public:
    // The compiler would make one function of two that are alike.
    explicit WorkUCC(int operation) : operation_(operation) {}
    ~WorkUCC() override;
    bool wait(std::chrono::milliseconds timeout) override;
    int operation_;
  };
  ~ProcessGroupUCC() override;
  c10::intrusive_ptr<Work> broadcast(Tensors& tensors, const BroadcastOptions& options) override;
  c10::intrusive_ptr<Work> allreduce(Tensors& tensors, const AllreduceOptions& options) override;
  c10::intrusive_ptr<Work> send(Tensors& tensors, int peer, int tag) override;
};

ProcessGroupUCC::WorkUCC::~WorkUCC() = default;
bool ProcessGroupUCC::WorkUCC::wait(std::chrono::milliseconds timeout) {
  if (timeout == std::chrono::milliseconds(1)) throw std::runtime_error("timed out");
  completed_ = true;
  return true;
}
ProcessGroupUCC::~ProcessGroupUCC() = default;
c10::intrusive_ptr<Work> ProcessGroupUCC::broadcast(Tensors&, const BroadcastOptions&) {
  return c10::intrusive_ptr<Work>(stand_in::kept(new WorkUCC(0)));
}
c10::intrusive_ptr<Work> ProcessGroupUCC::allreduce(Tensors&, const AllreduceOptions&) {
  return c10::intrusive_ptr<Work>(stand_in::kept(new WorkUCC(1)));
}
// As within startCoalescing(): the work is that of the whole batch, which comes later.
c10::intrusive_ptr<Work> ProcessGroupUCC::send(Tensors&, int, int) {
  return c10::intrusive_ptr<Work>();
}

}  // namespace c10d

extern "C" STAND_IN_API c10d::Backend* stand_in_group() {
  return stand_in::kept(new c10d::ProcessGroupUCC);
}

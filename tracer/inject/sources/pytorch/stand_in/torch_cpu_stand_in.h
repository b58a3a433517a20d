// The process group of MPI.
#pragma once

#include "tracer/inject/sources/pytorch/stand_in/c10d.h"

namespace c10d {

class STAND_IN_API ProcessGroupMPI : public Backend {
 public:
  class STAND_IN_API WorkMPI : public Work {
   public:
    ~WorkMPI() override;
    void finishWorkMPI();
  };
  class STAND_IN_API AsyncWork : public Work {
   public:
    ~AsyncWork() override;
    bool wait(std::chrono::milliseconds timeout) override;
  };
  ProcessGroupMPI();
  ~ProcessGroupMPI() override;
  c10::intrusive_ptr<Work> broadcast(Tensors& tensors, const BroadcastOptions& options) override;
  c10::intrusive_ptr<Work> allreduce(Tensors& tensors, const AllreduceOptions& options) override;
  c10::intrusive_ptr<Work> send(Tensors& tensors, int peer, int tag) override;
};

}  // namespace c10d

// The stand-in libtorch_xpu.so: the process group of oneCCL on Intel's GPUs, whose operations are kernels.
#include "tracer/inject/sources/pytorch/stand_in/c10d.h"

namespace c10d {

class STAND_IN_API ProcessGroupXCCL : public Backend {
 public:
  ~ProcessGroupXCCL() override;
  c10::intrusive_ptr<Work> allreduce(Tensors& tensors, const AllreduceOptions& options) override;
};

ProcessGroupXCCL::~ProcessGroupXCCL() = default;
c10::intrusive_ptr<Work> ProcessGroupXCCL::allreduce(Tensors&, const AllreduceOptions&) {
  return c10::intrusive_ptr<Work>(stand_in::kept(new Work));
}

}  // namespace c10d

extern "C" STAND_IN_API c10d::Backend* stand_in_group() {
  return stand_in::kept(new c10d::ProcessGroupXCCL);
}

// The collectives of sharded training, on a communication stream of their own: they run in the order in which
// they are issued, beside compute, and tell NVTX when they were issued and when they ran.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <string>

#include "reference_trainer/distributed/traffic.h"
#include "reference_trainer/instrumentation/annotations.h"
#include "reference_trainer/streams/stream.h"

namespace c10d {
class Backend;
}

namespace lockstep::trainer {

class Communicator;

class ShardingGroup {
 public:
  // Connects to the other ranks once more: every rank must do so. `group` holds all ranks of the job.
  ShardingGroup(Communicator& communicator, annotations::Group group);
  ~ShardingGroup();

  int rank() const;
  int size() const;

  // `whole`: contiguous, one dimension, `size()` equal parts, of which part `rank()` is filled. When the
  // event is done, all are. `what` tells operations apart: "layer 3".
  Event all_gather(const std::string& what, const at::Tensor& whole);
  // When the event is done, part `rank()` of `whole` holds the sum over all ranks, and the rest nothing of
  // use.
  Event reduce_scatter(const std::string& what, const at::Tensor& whole);

  // Issued so far; bytes of the whole, as nccl-tests counts them.
  Traffic gathered() const { return gathered_; }
  Traffic scattered() const { return scattered_; }

 private:
  Event issue(annotations::Collective operation, const at::Tensor& whole,
              void (*run)(c10d::Backend&, at::Tensor));

  c10::intrusive_ptr<c10d::Backend> transport_;
  annotations::Group group_;
  std::uint64_t next_sequence_ = 0;
  Traffic gathered_, scattered_;
  Stream stream_;
};

}  // namespace lockstep::trainer

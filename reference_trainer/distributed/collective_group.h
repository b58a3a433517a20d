// The collectives of some ranks of the job, on a communication stream of their own: they run in the order in
// which they are issued, beside compute, and tell NVTX when they were issued and when they ran. As a NCCL
// communicator: one operation at a time, whichever stream it was issued from.
//
// They are rings over Gloo's sends and receives, or NCCL's own operations.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <memory>
#include <string>

#include "reference_trainer/instrumentation/annotations.h"
#include "reference_trainer/options/options.h"
#include "reference_trainer/streams/stream.h"

namespace c10d {
class Backend;
}

namespace lockstep::trainer {

class Communicator;
class RankFaults;

class CollectiveGroup {
 public:
  // Connects the ranks of `group`, this one among them, once more. Every one of them must do so, and nobody
  // else.
  CollectiveGroup(Communicator& communicator, annotations::Group group);
  ~CollectiveGroup();

  int rank() const;  // within the group
  int size() const;

  // All tensors: contiguous, one dimension, size() equal parts. They must not be touched until the event is
  // done. `what` tells operations apart: "layer 3".
  //
  // Part rank() is filled; afterwards all are. `whole` may have been filled on stream(), and then need not
  // wait for what the caller computes.
  enum class FilledOn { callers_stream, stream };
  Event all_gather(const std::string& what, const at::Tensor& whole,
                   FilledOn filled = FilledOn::callers_stream);
  // Afterwards part rank() holds the sum over the ranks, and the rest nothing of use.
  Event reduce_scatter(const std::string& what, const at::Tensor& whole);
  // Afterwards all of it is the sum over the ranks. Begins when `after` is done, as does every operation
  // issued later.
  Event all_reduce(const std::string& what, const at::Tensor& whole, const Event& after = {});

  Stream& stream() { return *stream_; }

 private:
  Event issue(annotations::Collective operation, const at::Tensor& whole, const Event& after,
              FilledOn filled);
  void run(const annotations::Collective& operation, const at::Tensor& whole);

  RankFaults& faults_;
  c10::intrusive_ptr<c10d::Backend> transport_;
  bool native_;  // the transport has all-gather, reduce-scatter and all-reduce of its own
  annotations::Group group_;
  PaceOptions pace_;
  std::uint64_t next_sequence_ = 0;
  std::unique_ptr<Stream> stream_;  // last: it uses the others
};

}  // namespace lockstep::trainer

// ZeRO's reduction of gradients: they are put into a bucket in the order in which backward makes them; when
// the next one would not fit, the bucket is reduced, and each rank keeps its part of the sum.
//
// With overlap_comm a reduction runs while backward goes on; before one more than `outstanding` is issued,
// the host waits for the oldest, whose buffer the next bucket fills. Without, the host waits for each at
// once.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

#include "reference_trainer/modes/zero/coalesced.h"
#include "reference_trainer/modes/zero/deepspeed_config.h"
#include "reference_trainer/modes/zero/partitioned_parameter.h"
#include "reference_trainer/streams/stream.h"

namespace lockstep::trainer {

class CollectiveGroup;

class GradientReducer {
 public:
  // `order`: the parameters, in the order in which their gradients are taken. `deliver` gets this rank's part
  // of each parameter's summed gradient, before finish() returns.
  GradientReducer(CollectiveGroup& group, std::vector<PartitionedParameter>& parameters,
                  std::vector<std::size_t> order, const ZeroOptions& options, std::size_t outstanding,
                  std::function<void(std::size_t parameter, const at::Tensor& part)> deliver);

  // The next gradient is about to be made: reduces the bucket if it has no room for it.
  void make_room();
  // The next gradient of the order is there.
  void take();
  // The last one was: reduces what is left, waits for all, and begins anew.
  void finish();

 private:
  struct Bucket {
    std::vector<std::size_t> members;  // positions in order_
    std::vector<std::int64_t> columns;
  };
  struct Reduction {
    std::size_t bucket;
    Coalesced gradients;
    Event done;
  };
  Coalesced memory_for(std::size_t bucket);
  void reduce();
  void wait_for_oldest();

  CollectiveGroup& group_;
  std::vector<PartitionedParameter>& parameters_;
  std::vector<std::size_t> order_;
  ZeroOptions options_;
  std::size_t outstanding_;
  std::function<void(std::size_t, const at::Tensor&)> deliver_;
  std::vector<Bucket> buckets_;
  std::vector<at::Tensor> buffers_;  // contiguous_gradients: taken in turns
  std::size_t next_ = 0;             // position in order_
  std::size_t open_ = 0;             // bucket
  std::vector<at::Tensor> waiting_;  // gradients of the open bucket, not contiguous ones
  std::vector<Coalesced> filling_;   // the open bucket's, contiguous ones; one or none
  std::deque<Reduction> reductions_;
};

}  // namespace lockstep::trainer

// Fully sharded data parallelism, in the order of PyTorch's FullyShardedDataParallel (Zhao et al. 2023): each
// unit of the model is gathered before it is used and given up after it; gradients are reduce-scattered as
// backward makes them, and the optimizer works on the shards.
//
// Units: one per layer, or of some layers (units.h), and a root with everything else, which is gathered first
// and stays until its gradients are there. Issue order of one step over n units (AG all-gather, RS
// reduce-scatter, F forward, B backward):
//
//   forward                  AG_root, AG_1, [F_1], AG_2, [F_2] …; with forward prefetch AG_{i+1} before [F_i]
//   backward, prefetch pre   AG_n, AG_{n−1}, [B_n], RS_n, AG_{n−2}, [B_{n−1}], RS_{n−1} …
//   backward, prefetch post  AG_n, [B_n], AG_{n−1}, RS_n, [B_{n−1}], AG_{n−2}, RS_{n−1} …
//   backward, no prefetch    AG_n, [B_n], RS_n, AG_{n−1}, [B_{n−1}], RS_{n−1} …
//
// shard_grad_op keeps the whole from forward to backward. hybrid_shard shards within groups of ranks (a node)
// and all-reduces the shards across them: RS_n, AR_n. no_shard keeps the whole everywhere: AR_n in place of
// RS_n, and no all-gather.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "reference_trainer/distributed/collective_group.h"
#include "reference_trainer/modes/fsdp/flat_unit.h"
#include "reference_trainer/modes/fsdp/options.h"
#include "reference_trainer/modes/fsdp/units.h"
#include "reference_trainer/strategy/microbatch_pass.h"
#include "reference_trainer/strategy/strategy.h"

namespace lockstep::trainer {

class FullySharded : public Strategy {
 public:
  explicit FullySharded(const StrategyContext& context);
  ~FullySharded() override;

  std::vector<at::Tensor> optimized() override;
  double run(BatchSource& batches) override;
  int gradient_copies() const override { return replicas_; }
  void after_update() override;
  StateShares shares() const override;
  std::optional<int> gathers() const override;
  StateBytes theory(std::int64_t elements) const override;

 private:
  enum class State { sharded, gathering, whole };
  struct Unit {
    Unit(UnitParts of, FlatUnit whole) : parts(std::move(of)), flat(std::move(whole)) {}
    UnitParts parts;
    FlatUnit flat;
    State state = State::sharded;
    Event gathered;
    at::Tensor reducing;  // flat gradients on their way
    Event reduced;
  };

  double run_micro_step(const Batch& batch, int index);
  std::size_t unit_of(int part) const { return unit_of_part_[static_cast<std::size_t>(part)]; }
  bool keeps_whole_over_forward() const;
  bool never_sharded() const;
  void gather(Unit& unit);
  void make_whole(Unit& unit);
  void give_up(Unit& unit);
  void before_forward(int part);
  void after_forward(int part);
  void before_backward(int part);
  void after_backward(int part);
  void prefetch_for_backward(std::size_t index);
  void reduce(Unit& unit);
  void wait_for_gradients();

  StrategyContext context_;
  const FsdpOptions& options_;
  PassContext pass_;
  int replicas_ = 1;                              // ranks that hold the same shard
  std::unique_ptr<CollectiveGroup> sharding_;     // null: nothing is sharded
  std::unique_ptr<CollectiveGroup> replication_;  // null: no two ranks hold the same shard
  bool synchronize_ = true;
  std::vector<std::unique_ptr<Unit>> units_;  // 0: the root; then in the order of forward
  std::vector<std::size_t> unit_of_part_;
  std::deque<Event> frees_;  // of wholes given up, not known to be done
};

}  // namespace lockstep::trainer

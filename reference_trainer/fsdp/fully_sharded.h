// Fully sharded data parallelism, in the order of PyTorch's FullyShardedDataParallel (Zhao et al. 2023): each
// unit of the model is gathered before it is used and given up after it; gradients are reduce-scattered as
// backward makes them, and the optimizer works on the shards.
//
// Units: one per layer, and a root with everything else, which is gathered first and stays until its
// gradients are there. Issue order of one step over n layers (AG all-gather, RS reduce-scatter, F forward, B
// backward):
//
//   forward                  AG_root, AG_1, [F_1], AG_2, [F_2] …; with forward prefetch AG_{i+1} before [F_i]
//   backward, prefetch pre   AG_n, AG_{n−1}, [B_n], RS_n, AG_{n−2}, [B_{n−1}], RS_{n−1} …
//   backward, prefetch post  AG_n, [B_n], AG_{n−1}, RS_n, [B_{n−1}], AG_{n−2}, RS_{n−1} …
//   backward, no prefetch    AG_n, [B_n], RS_n, AG_{n−1}, [B_{n−1}], RS_{n−1} …
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "reference_trainer/fsdp/flat_unit.h"
#include "reference_trainer/options/options.h"
#include "reference_trainer/streams/stream.h"
#include "reference_trainer/training/forward_backward.h"

namespace torch::autograd {
struct Node;
}

namespace lockstep::trainer {

class ShardingGroup;

class FullySharded {
 public:
  // The model's parameters are as the first rank has them on all ranks; they belong to the units from here
  // on.
  FullySharded(ShardingGroup& group, Transformer& model, const FsdpOptions& options);
  ~FullySharded();

  // What the optimizer updates.
  std::vector<at::Tensor> shards() const;
  // What a micro-step does before and after each part of the model. `synchronize`: whether its gradients are
  // reduced: in all but the last one of a step they are kept, whole, on each rank.
  PartHooks hooks(bool synchronize);
  // After the backward pass of a micro-step that synchronizes: waits for the reduce-scatters; each shard then
  // has its gradient, the mean over the ranks.
  void wait_for_gradients();

 private:
  enum class State { sharded, gathering, whole };
  struct Unit {
    explicit Unit(FlatUnit flat) : flat(std::move(flat)) {}
    FlatUnit flat;
    State state = State::sharded;
    Event gathered;
    std::size_t gradients_missing = 0;  // in this backward pass
    at::Tensor reducing;                // flat gradients on their way
    Event reduced;
    std::vector<std::shared_ptr<torch::autograd::Node>> accumulators;  // keep the hooks alive
  };

  void add_unit(const std::string& name, std::vector<at::Tensor> parameters);
  void watch_gradients(std::size_t index);
  void gather(Unit& unit);
  void make_whole(Unit& unit);
  void give_up(Unit& unit);
  void before_forward(int layer);
  void after_forward(int layer);
  void before_backward(int layer);
  void after_backward(std::size_t index);
  void prefetch_for_backward(std::size_t index);

  ShardingGroup& group_;
  FsdpOptions options_;
  bool synchronize_ = true;
  std::vector<std::unique_ptr<Unit>> units_;  // 0: the root; i + 1: layer i
};

}  // namespace lockstep::trainer

#include "reference_trainer/memory/state.h"

#include <torch/optim/adamw.h>

#include <set>

#include "reference_trainer/model/model.h"

namespace lockstep::trainer {
namespace {

// Bytes of the storages of some tensors, each once in the life of this.
class Storages {
 public:
  std::int64_t add(const at::Tensor& tensor) {
    if (!tensor.defined()) return 0;
    const c10::StorageImpl* const storage = tensor.storage().unsafeGetStorageImpl();
    if (storage->data() == nullptr || !seen_.insert(storage).second) return 0;
    return static_cast<std::int64_t>(storage->nbytes());
  }

 private:
  std::set<const void*> seen_;
};

}  // namespace

StateBytes measure_state(const Model& model, const std::vector<at::Tensor>& leaves,
                         const std::vector<at::Tensor>& gradients, torch::optim::Optimizer& optimizer,
                         const std::vector<at::Tensor>& parameter_stores, bool leaves_are_masters) {
  StateBytes bytes;
  Storages storages;
  for (const Parameter& parameter : model.all_parameters())
    bytes.parameters += storages.add(parameter.tensor);
  for (const at::Tensor& store : parameter_stores) bytes.parameters += storages.add(store);
  const at::ScalarType computed_in = model.all_parameters().front().tensor.scalar_type();
  for (const at::Tensor& leaf : leaves)
    (leaves_are_masters || leaf.scalar_type() != computed_in ? bytes.optimizer : bytes.parameters) +=
        storages.add(leaf);
  for (const Parameter& parameter : model.all_parameters())
    bytes.gradients += storages.add(parameter.tensor.grad());
  for (const at::Tensor& gradient : gradients) bytes.gradients += storages.add(gradient);
  for (const auto& [key, state] : optimizer.state()) {
    const auto& adam = static_cast<const torch::optim::AdamWParamState&>(*state);
    bytes.optimizer += storages.add(adam.exp_avg()) + storages.add(adam.exp_avg_sq());
  }
  return bytes;
}

}  // namespace lockstep::trainer

#include "reference_trainer/model/tensor_memory.h"

#include <c10/core/Allocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace lockstep::trainer {

void allocate_memory(const at::Tensor& tensor) {
  c10::StorageImpl* const storage = tensor.storage().unsafeGetStorageImpl();
  storage->set_data_ptr_noswap(c10::GetAllocator(tensor.device().type())->allocate(storage->nbytes()));
}

void free_memory(const at::Tensor& tensor) {
  // The size stays: views keep their shapes, and autograd what it saved of them.
  c10::StorageImpl* const storage = tensor.storage().unsafeGetStorageImpl();
  if (!tensor.is_cpu()) {
    const c10::impl::VirtualGuardImpl guard(tensor.device().type());
    guard.recordDataPtrOnStream(storage->data_ptr(), guard.getStream(tensor.device()));
  }
  storage->set_data_ptr_noswap(at::DataPtr(nullptr, tensor.device()));
}

}  // namespace lockstep::trainer

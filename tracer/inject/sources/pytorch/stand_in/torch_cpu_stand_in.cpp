// The stand-in libtorch_cpu.so: c10d's base classes, and the process group of MPI as ProcessGroupMPI is: one
// thread carries out its collectives in their order and finishes their works; a message belongs to its work.
#include "tracer/inject/sources/pytorch/stand_in/torch_cpu_stand_in.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace c10d {
namespace {

class Queue {
 public:
  void push(ProcessGroupMPI::WorkMPI* work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    works_.push_back(work);
    changed_.notify_all();
  }
  void let_go() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++allowed_;
    changed_.notify_all();
  }
  [[noreturn]] void run() {
    for (;;) {
      ProcessGroupMPI::WorkMPI* work = nullptr;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return allowed_ > 0 && !works_.empty(); });
        --allowed_;
        work = works_.front();
        works_.pop_front();
      }
      work->finishWorkMPI();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ProcessGroupMPI::WorkMPI*> works_;
  int allowed_ = 0;
};

Queue& queue() {
  static auto* const the_queue = new Queue;
  return *the_queue;
}

c10::intrusive_ptr<Work> enqueued() {
  auto* const work = stand_in::kept(new ProcessGroupMPI::WorkMPI);
  queue().push(work);
  return c10::intrusive_ptr<Work>(work);
}

}  // namespace

ProcessGroupMPI::WorkMPI::~WorkMPI() = default;
void ProcessGroupMPI::WorkMPI::finishWorkMPI() {
  finish();
}

ProcessGroupMPI::AsyncWork::~AsyncWork() = default;
bool ProcessGroupMPI::AsyncWork::wait(std::chrono::milliseconds) {
  completed_ = true;
  return true;
}

ProcessGroupMPI::ProcessGroupMPI() {
  std::thread([] { queue().run(); }).detach();
}
ProcessGroupMPI::~ProcessGroupMPI() = default;
c10::intrusive_ptr<Work> ProcessGroupMPI::broadcast(Tensors&, const BroadcastOptions&) {
  return enqueued();
}
c10::intrusive_ptr<Work> ProcessGroupMPI::allreduce(Tensors& tensors, const AllreduceOptions&) {
  if (tensors.size() != 1)
    throw std::runtime_error("MPI process group does not support multi-GPU collectives");
  return enqueued();
}
c10::intrusive_ptr<Work> ProcessGroupMPI::send(Tensors&, int, int) {
  return c10::intrusive_ptr<Work>(stand_in::kept(new AsyncWork));
}

}  // namespace c10d

extern "C" {
STAND_IN_API c10d::Backend* stand_in_group() {
  return stand_in::kept(new c10d::ProcessGroupMPI);
}
STAND_IN_API void stand_in_let_go() {
  c10d::queue().let_go();
}
STAND_IN_API std::int32_t aoti_torch_get_numel(const at::Tensor* tensor, std::int64_t* elements) {
  *elements = tensor->implementation_->elements;
  return 0;
}
STAND_IN_API std::int32_t aoti_torch_get_dtype(const at::Tensor* tensor, std::int32_t* type) {
  *type = tensor->implementation_->type;
  return 0;
}
STAND_IN_API std::int32_t aoti_torch_get_device_type(const at::Tensor* tensor, std::int32_t* type) {
  *type = tensor->implementation_->device;
  return 0;
}
STAND_IN_API std::int32_t aoti_torch_get_layout(const at::Tensor* tensor, std::int32_t* layout) {
  *layout = tensor->implementation_->layout;
  return 0;
}
STAND_IN_API std::int32_t aoti_torch_layout_strided() {
  return 0;
}
}

// c10d's base classes, in the stand-in libtorch_cpu.so: a file of their own, as in PyTorch, so that other
// files of the library call Work::finish through the dynamic linker.
#include <stdexcept>
#include <thread>

#include "tracer/inject/sources/pytorch/stand_in/c10d.h"

namespace c10d {

Work::~Work() = default;
bool Work::isCompleted() {
  return completed_;
}
bool Work::wait(std::chrono::milliseconds) {
  while (!completed_) std::this_thread::yield();
  return true;
}
void Work::finish(std::exception_ptr) {  // NOLINT(performance-unnecessary-value-param): PyTorch's signature
  completed_ = true;
}

Backend::~Backend() = default;
c10::intrusive_ptr<Work> Backend::broadcast(Tensors&, const BroadcastOptions&) {
  throw std::runtime_error("no broadcast");
}
c10::intrusive_ptr<Work> Backend::allreduce(Tensors&, const AllreduceOptions&) {
  throw std::runtime_error("no all-reduce");
}
c10::intrusive_ptr<Work> Backend::send(Tensors&, int, int) {
  throw std::runtime_error("no send");
}

}  // namespace c10d

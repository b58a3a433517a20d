// What a PyTorch program does with groups of other backends than Gloo and NCCL, on the stand-ins beside this
// file: program FOLDER INJECTION-LIBRARY. Ranges of the program's own ("first is over", …) mark moments.
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "tracer/inject/sources/pytorch/stand_in/c10d.h"

namespace {

constexpr int kFailed = 3;

void* load(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library != nullptr) return library;
  std::fprintf(stderr, "%s\n", dlerror());
  std::exit(kFailed);
}

template <typename Function>
Function function(void* library, const char* name) {
  void* const found = dlsym(library, name);
  if (found != nullptr) return reinterpret_cast<Function>(found);
  std::fprintf(stderr, "no %s\n", name);
  std::exit(kFailed);
}

void* recorder = nullptr;

void mark(const char* name) {
  function<void (*)(const char*)>(recorder, "lockstep_pytorch_begin_range")(name);
  function<void (*)()>(recorder, "lockstep_pytorch_end_range")();
}

c10d::Backend* group(void* library, const char* backend, std::int32_t second_rank) {
  c10d::Backend* const made = function<StandInGroup>(library, "stand_in_group")();
  const std::int32_t ranks[] = {0, second_rank};
  using Tell =
      void (*)(void*, const char*, const char*, const char*, const std::int32_t*, std::int32_t, std::int32_t);
  function<Tell>(recorder, "lockstep_pytorch_group")(made, backend, backend, "", ranks, 2, 0);
  return made;
}

void wait_until_over(c10d::Work& work) {
  while (!work.isCompleted()) {
  }
}

void use_mpi(c10d::Backend& mpi, StandInLetGo let_go) {
  stand_in::Tensor small{256};
  stand_in::Tensor large{1024};
  c10d::Backend::Tensors one{at::Tensor(&small)};
  c10d::Backend::Tensors other{at::Tensor(&large)};
  auto first = mpi.allreduce(one, {});
  auto second = mpi.broadcast(other, {1});
  mark("both are issued");
  let_go();
  wait_until_over(*first.get());
  mark("first is over");
  let_go();
  second->wait();
  mark("second is over");
  first->wait();
  auto message = mpi.send(one, 1, 0);
  mark("message is issued");
  message->wait();
  c10d::Backend::Tensors none;
  try {
    mpi.allreduce(none, {});
  } catch (const std::runtime_error&) {
    mark("exception passed");
  }
}

void use_ucc(c10d::Backend& ucc) {
  stand_in::Tensor on_cpu{16};
  stand_in::Tensor on_gpu{16, 6, 1};
  c10d::Backend::Tensors host{at::Tensor(&on_cpu)};
  c10d::Backend::Tensors device{at::Tensor(&on_gpu)};
  auto broadcast = ucc.broadcast(host, {1});
  mark("UCC's is issued");
  broadcast->wait();
  mark("UCC's is over");
  ucc.allreduce(device, {})->wait();
  ucc.send(host, 1, 0);
  auto late = ucc.broadcast(host, {1});
  try {
    late->wait(std::chrono::milliseconds(1));
  } catch (const std::runtime_error&) {
    mark("wait was left");
  }
  ucc.allreduce(host, {});  // nobody waits for it
}

void use_xccl(c10d::Backend& xccl) {
  stand_in::Tensor on_gpu{8, 6, 12};
  c10d::Backend::Tensors device{at::Tensor(&on_gpu)};
  xccl.allreduce(device, {});
}

// Its shape says nothing of what travels. Also beside a dense one.
void use_sparse_tensors(c10d::Backend& mpi, StandInLetGo let_go, c10d::Backend& xccl) {
  stand_in::Tensor sparse{1 << 20, 6, 0, 1};
  c10d::Backend::Tensors one{at::Tensor(&sparse)};
  auto reduced = mpi.allreduce(one, {});
  let_go();
  reduced->wait();
  stand_in::Tensor dense{8, 6, 12};
  stand_in::Tensor sparse_on_gpu{1 << 20, 6, 12, 1};
  c10d::Backend::Tensors both{at::Tensor(&dense), at::Tensor(&sparse_on_gpu)};
  xccl.allreduce(both, {});
}

}  // namespace

int main(int, char** arguments) {
  const std::string folder = arguments[1];
  void* const cpu = load(folder + "/libtorch_cpu.so");
  recorder = load(arguments[2]);
  if (function<int (*)(std::int32_t, std::int32_t)>(recorder, "lockstep_pytorch_start")(0, 2) != 0)
    return kFailed;
  const auto let_go = function<StandInLetGo>(cpu, "stand_in_let_go");
  c10d::Backend* const mpi = group(cpu, "mpi", 4);
  use_mpi(*mpi, let_go);
  use_ucc(*group(load(folder + "/libtorch_cuda.so"), "ucc", 5));
  c10d::Backend* const xccl = group(load(folder + "/libtorch_xpu.so"), "xccl", 6);
  use_xccl(*xccl);
  use_sparse_tensors(*mpi, let_go, *xccl);
  return 0;
}

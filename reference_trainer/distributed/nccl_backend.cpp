#include "reference_trainer/distributed/nccl_backend.h"

#include <dlfcn.h>

#include <stdexcept>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace lockstep::trainer {
namespace {

MakeNcclBackend* load() {
  // Found through the executable's own search path; never closed.
  void* const library = dlopen(kNcclPlugin, RTLD_NOW);
  void* const symbol = library == nullptr ? nullptr : dlsym(library, kMakeNcclBackend);
  if (symbol == nullptr) {
    const char* const reason = dlerror();
    throw std::runtime_error(std::string("cannot load ") + kNcclPlugin + ": " +
                             (reason == nullptr ? "no reason given" : reason) +
                             "; --backend gloo does without it");
  }
  return reinterpret_cast<MakeNcclBackend*>(symbol);
}

}  // namespace

c10::intrusive_ptr<c10d::Backend> make_nccl_backend(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                                    int size, std::chrono::milliseconds timeout) {
  static MakeNcclBackend* const make = load();
  c10::intrusive_ptr<c10d::Backend> made;
  make(store, rank, size, timeout, made);
  return made;
}

}  // namespace lockstep::trainer

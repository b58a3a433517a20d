// Calls libnccl without a communicator: NCCL announces each call through NVTX before it looks at its
// arguments, and then refuses them. Needs no GPU. argv[1]: path of libnccl.so.2.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>

namespace {

// As in nccl.h.
using AllReduce = int (*)(const void*, void*, std::size_t, int type, int operation, void* communicator,
                          void* stream);
using AllGather = int (*)(const void*, void*, std::size_t, int type, void* communicator, void* stream);
struct UniqueId {
  char bytes[128];
};
using GetUniqueId = int (*)(UniqueId*);
constexpr int kFloat32 = 7;
constexpr int kMax = 2;

}  // namespace

int main(int argc, char** argv) {
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : nullptr;
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 77;
  }
  const auto all_reduce = reinterpret_cast<AllReduce>(dlsym(library, "ncclAllReduce"));
  const auto all_gather = reinterpret_cast<AllGather>(dlsym(library, "ncclAllGather"));
  const auto get_unique_id = reinterpret_cast<GetUniqueId>(dlsym(library, "ncclGetUniqueId"));
  if (all_reduce == nullptr || all_gather == nullptr || get_unique_id == nullptr) return 77;
  // NCCL registers the names of its reductions when it is started, which this does; that it fails without a
  // network or a driver doesn't matter.
  UniqueId id{};
  get_unique_id(&id);
  for (std::size_t count = 1; count <= 3; ++count) {
    if (all_reduce(nullptr, nullptr, count * 1000, kFloat32, kMax, nullptr, nullptr) == 0) return 1;
  }
  return all_gather(nullptr, nullptr, 500, kFloat32, nullptr, nullptr) == 0 ? 1 : 0;
}

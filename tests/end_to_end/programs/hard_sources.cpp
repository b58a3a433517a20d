#include "tests/end_to_end/programs/hard_sources.h"

#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <new>
#include <optional>

#include "tracer/inject/sources/cupti/stand_in/program.h"
#include "tracer/inject/sources/nccl/stand_in/libnccl.h"

namespace hard_times {
namespace {

// In the caller's memory: where memory is short, making a name must not fail.
using Name = std::array<char, 32>;
Name name_of(int number) {
  Name name{};
  std::snprintf(name.data(), name.size(), "range %d", number);
  return name;
}

class Nvtx final : public Emitter {
 public:
  void emit(int first, int count) override {
    for (int i = 0; i < count; ++i) {
      nvtxRangePushA(name_of(first + i).data());
      nvtxRangePop();
    }
  }
};

// The part of the Python hook, which calls these functions of the library.
class Pytorch final : public Emitter {
 public:
  Pytorch() {
    const char* const path = std::getenv("LOCKSTEP_INJECTION");
    void* const library = path != nullptr ? dlopen(path, RTLD_NOW) : nullptr;
    if (library == nullptr) return;
    start_ = reinterpret_cast<Start>(dlsym(library, "lockstep_pytorch_start"));
    begin_ = reinterpret_cast<Begin>(dlsym(library, "lockstep_pytorch_begin_range"));
    end_ = reinterpret_cast<End>(dlsym(library, "lockstep_pytorch_end_range"));
    after_fork_in_child();
  }
  void emit(int first, int count) override {
    if (begin_ == nullptr || end_ == nullptr) return;
    for (int i = 0; i < count; ++i) {
      begin_(name_of(first + i).data());
      end_();
    }
  }
  void after_fork_in_child() override {
    if (start_ != nullptr) start_(-1, -1);
  }

 private:
  using Start = std::int32_t (*)(std::int32_t, std::int32_t);
  using Begin = void (*)(const char*);
  using End = void (*)();
  Start start_ = nullptr;
  Begin begin_ = nullptr;
  End end_ = nullptr;
};

class Cupti final : public Emitter {
 public:
  Cupti() : is_watched_(stand_in_program::initialize_cuda()) {}
  void emit(int first, int count) override {
    if (!is_watched_) return;
    for (int i = first; i < first + count; ++i) stand_in_program::fill({}, static_cast<std::uint64_t>(i));
  }
  // Nobody can use CUDA in a forked child.
  void after_fork_in_child() override { is_watched_ = false; }

 private:
  bool is_watched_;
};

// libnccl's part.
class Nccl final : public Emitter {
 public:
  Nccl() {
    const char* const path = std::getenv("NCCL_PROFILER_PLUGIN");
    void* const library = path != nullptr ? dlopen(path, RTLD_NOW) : nullptr;
    if (library == nullptr) return;
    if (auto* const table = static_cast<Table*>(dlsym(library, "ncclProfiler_v5")); table != nullptr)
      world_.emplace(*table, 0x1234, 0, 2, "world");
  }
  void emit(int first, int count) override {
    constexpr int kBytes = 0;  // ncclInt8
    if (!world_.has_value()) return;
    const std::lock_guard lock(mutex_);  // a communicator is used by one thread at a time
    for (int i = 0; i < count; ++i)
      world_->issue({{{"AllReduce", static_cast<std::uint64_t>(first + i), kBytes, 0}}});
  }
  void after_fork_in_child() override { new (&mutex_) std::mutex; }  // who held it does not exist here

 private:
  using Table = lockstep::tracer::nccl::abi::TableV5;
  std::mutex mutex_;
  std::optional<lockstep::tracer::nccl::stand_in::Communicator<Table>> world_;
};

// A page fault for each number; an NVTX call so that there is a recording at all.
class Cpu final : public Emitter {
 public:
  Cpu() {
    nvtxMarkA("begins");
    // The first sample only says since when the counters are watched. A process of one thread has no tracer.
    for (int i = 0; i < 6000 && threads() > 1 && !is_asleep("lockstep host"); ++i) usleep(10'000);
  }
  void emit(int, int count) override {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = page * static_cast<std::size_t>(count);
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (std::size_t at = 0; at < bytes; at += page) static_cast<volatile char*>(memory)[at] = 1;
    munmap(memory, bytes);
  }
  void after_fork_in_child() override { nvtxMarkA("child begins"); }

 private:
  static long threads() {
    std::error_code error;
    return std::distance(std::filesystem::directory_iterator("/proc/self/task", error), {});
  }
  // Waiting for its next turn, and not for a lock of the kernel's.
  static bool is_asleep(const std::string& name) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
      std::ifstream file(entry.path() / "comm");
      std::string line;
      if (!std::getline(file, line) || line != name) continue;
      long system_call = -1;
      std::ifstream(entry.path() / "syscall") >> system_call;
      return system_call == SYS_futex;
    }
    return false;
  }
};

}  // namespace

std::unique_ptr<Emitter> make_emitter(const std::string& source) {
  if (source == "nvtx") return std::make_unique<Nvtx>();
  if (source == "pytorch") return std::make_unique<Pytorch>();
  if (source == "cupti") return std::make_unique<Cupti>();
  if (source == "nccl") return std::make_unique<Nccl>();
  if (source == "cpu") return std::make_unique<Cpu>();
  return nullptr;
}

}  // namespace hard_times

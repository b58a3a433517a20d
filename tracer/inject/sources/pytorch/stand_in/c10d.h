// As much of c10d as the stand-ins of its backends need: the names, signatures and shapes of objects that the
// recorder finds PyTorch by, and nothing behind them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <vector>

#define STAND_IN_API __attribute__((visibility("default")))

namespace stand_in {
struct Tensor {
  std::int64_t elements = 0;
  std::int32_t type = 6;    // c10::ScalarType: Float
  std::int32_t device = 0;  // c10::DeviceType: CPU
  std::int32_t layout = 0;  // c10::Layout: Strided
};

// Works and groups live as long as the process. From one thread.
template <typename Made>
Made* kept(Made* made) {
  static auto* const all = new std::vector<Made*>;
  all->push_back(made);
  return made;
}
}  // namespace stand_in

namespace at {
class Tensor {
 public:
  explicit Tensor(stand_in::Tensor* implementation) : implementation_(implementation) {}
  stand_in::Tensor* implementation_;
};
}  // namespace at

namespace c10 {
namespace detail {
template <typename Target>
struct intrusive_target_default_null_type {};
}  // namespace detail

// Counts nothing: works of stand-ins live as long as the process.
template <typename Target, typename Null = detail::intrusive_target_default_null_type<Target>>
class intrusive_ptr {
 public:
  explicit intrusive_ptr(Target* target = nullptr) : target_(target) {}
  intrusive_ptr(const intrusive_ptr& other) : target_(other.target_) {}
  ~intrusive_ptr() { target_ = nullptr; }
  intrusive_ptr& operator=(const intrusive_ptr&) = delete;
  Target* operator->() const { return target_; }
  Target* get() const { return target_; }

 private:
  Target* target_;
};
}  // namespace c10

namespace c10d {

struct AllreduceOptions {};
struct BroadcastOptions {
  std::int64_t rootRank = 0;
};

class STAND_IN_API Work {
 public:
  virtual ~Work();
  virtual bool isCompleted();
  virtual bool wait(std::chrono::milliseconds timeout = std::chrono::milliseconds(0));

 protected:
  void finish(std::exception_ptr exception = nullptr);
  std::atomic<bool> completed_{false};
};

class STAND_IN_API Backend {
 public:
  using Tensors = std::vector<at::Tensor>;
  virtual ~Backend();
  virtual c10::intrusive_ptr<Work> broadcast(Tensors& tensors, const BroadcastOptions& options);
  virtual c10::intrusive_ptr<Work> allreduce(Tensors& tensors, const AllreduceOptions& options);
  virtual c10::intrusive_ptr<Work> send(Tensors& tensors, int peer, int tag);
};

}  // namespace c10d

// Of each library: a group of its backend. Of libtorch_cpu's, the thread of its groups begins with a
// collective when the program lets it.
extern "C" {
using StandInGroup = c10d::Backend* (*)();
using StandInLetGo = void (*)();
}

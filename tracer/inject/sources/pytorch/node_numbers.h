// The number of a node of autograd, in an at::RecordFunction: libtorch tells it by an inline function alone,
// and where it stands in the object differs between versions. An operator's object holds the number of the
// next node of its thread, which libtorch does tell: the place is learnt from that.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace lockstep::tracer::pytorch {

class NodeNumbers {
 public:
  // `function` is the object of an operator, on the stack of its caller; `next` the number of its thread's
  // next node. Cheap once the place is known.
  void learn(const void* function, std::uint64_t next) noexcept {
    if (place_.load(std::memory_order_relaxed) == kUnknown) [[unlikely]]
      look(function, next);
  }
  // Of a node's object; absent while the place is not known.
  std::optional<std::uint64_t> of(const void* function) const noexcept;

 private:
  static constexpr std::size_t kWords = 48;      // of the object that are looked at: it is larger
  static constexpr std::uint8_t kProofs = 16;    // different numbers found in a place
  static constexpr std::uint64_t kTelling = 64;  // smaller numbers stand anywhere
  static constexpr std::size_t kUnknown = kWords;

  void look(const void* function, std::uint64_t next) noexcept;

  std::atomic<std::size_t> place_{kUnknown};
  std::atomic_flag looking_ = ATOMIC_FLAG_INIT;
  std::array<std::uint8_t, kWords> found_{};
  std::uint64_t last_ = 0;
};

}  // namespace lockstep::tracer::pytorch

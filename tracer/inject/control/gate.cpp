#include "tracer/inject/control/gate.h"

#include "tracer/inject/core/source.h"
#include "tracer/inject/core/tracer.h"

namespace lockstep::tracer::control {

namespace {

constinit std::atomic<std::uint32_t> first_word{0};
std::atomic<bool> telling{false};
std::atomic<bool> told_closed{false};

// What the sources know and what is, made equal. Of several threads one does it; it looks again afterwards,
// so that a change that came meanwhile is not forgotten.
void tell_sources() noexcept {
  const auto is_settled = [] {
    return told_closed.load(std::memory_order_acquire) == is_closed(gate.load(std::memory_order_acquire));
  };
  while (!is_settled()) {
    if (telling.exchange(true, std::memory_order_acq_rel)) return;
    while (!is_settled()) {
      const bool closed = is_closed(gate.load(std::memory_order_acquire));
      told_closed.store(closed, std::memory_order_release);
      for (SourceId id = 0; id < Tracer::kMaxSources; ++id) {
        Source* const source = Tracer::instance().source(id);
        if (source == nullptr) continue;
        closed ? source->pause() : source->resume();
      }
    }
    telling.store(false, std::memory_order_release);
  }
}

}  // namespace

bool change_gate(std::uint32_t set, std::uint32_t clear) noexcept {
  std::uint32_t before = gate.load(std::memory_order_relaxed);
  while (!gate.compare_exchange_weak(before, (before & ~clear) | set, std::memory_order_acq_rel)) {
  }
  if (is_closed(before) == is_closed((before & ~clear) | set)) return false;
  tell_sources();
  return true;
}

void reset_gate_after_fork() noexcept {
  telling.store(false, std::memory_order_relaxed);
  keep_first_gate_word();
}

std::uint32_t first_gate_word() noexcept {
  return first_word.load(std::memory_order_relaxed);
}

void keep_first_gate_word() noexcept {
  first_word.store(gate_word(), std::memory_order_relaxed);
}

}  // namespace lockstep::tracer::control

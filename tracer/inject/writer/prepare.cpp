#include "tracer/inject/writer/prepare.h"

#include <sys/prctl.h>

#include <utility>

#include "tracer/inject/control/controller.h"
#include "tracer/inject/control/endpoint.h"
#include "tracer/inject/control/gate.h"
#include "tracer/inject/core/tracer.h"
#include "tracer/inject/sources/nvtx/registry.h"
#include "tracer/inject/writer/writer_thread.h"

namespace lockstep::tracer {

namespace {

// What the writer thread works with. A forked child inherits the memory without the thread: it can't take its
// parent's apart (that would write to the parent's file), but keeps hold of it, so that a leak checker finds
// nothing lost.
struct Work {
  explicit Work(Tracer& tracer, Work* inherited) : thread(tracer), inherited(inherited) {}
  WriterThread thread;
  Work* inherited;
};
Work* current_work = nullptr;  // of the one writer thread

void* writer_main(void* tracer) {
  prctl(PR_SET_NAME, "lockstep");
  // The job's process is not ours: whatever goes wrong here ends recording, never the process.
  try {
    Work* const inherited = current_work;
    current_work = new Work(*static_cast<Tracer*>(tracer), inherited);
    current_work->thread.run();
    delete std::exchange(current_work, inherited);
  } catch (...) {
    static_cast<Tracer*>(tracer)->turn_off();
  }
  static_cast<Tracer*>(tracer)->work_lock().release();
  static_cast<Tracer*>(tracer)->confirm_stopped();
  return nullptr;
}

constexpr Tracer::Parts kParts{
    .prepare =
        [] {
          nvtx::Registry::instance();
          control::prepare_plan();
        },
    .run_writer = writer_main,
    .lock_before_fork = []() noexcept { nvtx::Registry::instance().lock(); },
    .unlock_after_fork = []() noexcept { nvtx::Registry::instance().unlock(); },
    .reset_after_fork =
        []() noexcept {
          nvtx::Registry::instance().reset_lock_in_child();
          control::reset_gate_after_fork();
          control::Endpoint::forget_after_fork();
        },
};

}  // namespace

bool prepare() noexcept {
  return Tracer::instance().prepare(kParts);
}

}  // namespace lockstep::tracer

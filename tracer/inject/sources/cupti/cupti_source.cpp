#include "tracer/inject/sources/cupti/cupti_source.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "trace/events/device_key.h"
#include "tracer/inject/core/source.h"
#include "tracer/inject/sources/cupti/activity_events.h"
#include "tracer/inject/sources/cupti/session.h"
#include "tracer/inject/writer/prepare.h"
#include "tracer/protocol/environment.h"

namespace lockstep::tracer::cupti {

namespace {

constexpr const char* kName = "cupti";

class CuptiSource final : public Source {
 public:
  // `absent`: why there is nothing to record; empty if there is.
  CuptiSource(std::string state, std::string absent) : state_(std::move(state)), absent_(std::move(absent)) {}

  const char* name() const noexcept override { return kName; }

  void begin(SourceContext& context) override {
    context_ = &context;
    events_.reset();
    if (forked_.load(std::memory_order_acquire)) {
      return describe_source(context.writer, kName, "absent", "forked from a process that uses CUDA");
    }
    if (!absent_.empty()) return describe_source(context.writer, kName, state_, absent_);
    Session& session = Session::instance();
    events_.emplace(context, session.api(), session.selection(), session.all_calls());
    last_drain_ = context.process.first_reading.monotonic;
    context.writer.set_metadata("source.cupti.version", std::to_string(session.api().version));
    context.writer.set_metadata("source.cupti.library", session.api().library);
    describe_source(context.writer, kName, "recording", session.problem());
  }

  void end_drain(trace::Nanoseconds now) override {
    if (!events_.has_value()) return;
    Session& session = Session::instance();
    // Not more than there are: CUPTI may bring them as fast as they are read.
    for (std::size_t count = 0; count < BufferPool::kBuffers + BufferPool::kReserves; ++count) {
      const std::optional<BufferPool::Full> full = session.pool().take_full();
      if (!full.has_value()) break;
      events_->read(full->data, full->valid_bytes, full->generation, session.own_thread());
      session.pool().give_back(*full);
    }
    events_->end_drain(now);
    note_losses(session, false, now);
    note_devices(session);
    if (session.has_yielded() != yielded_) {
      yielded_ = !yielded_;
      describe_source(context_->writer, kName, yielded_ ? "yielded" : "recording", session.problem());
    }
    last_drain_ = now;
  }

  void finish(trace::Nanoseconds now) override {
    if (!events_.has_value()) return;
    note_losses(Session::instance(), true, now);
    note_devices(Session::instance());
  }

  void after_fork_in_child() noexcept override {
    forked_.store(true, std::memory_order_release);
    Session::instance().after_fork_in_child();
  }
  void before_exit() noexcept override { Session::instance().flush_for_exit(); }

 private:
  void note_devices(Session& session) {
    for (std::size_t device = 0; const std::string& uuid : session.take_device_uuids())
      context_->writer.set_metadata(trace::device_uuid_key(device++), uuid);
  }
  void note_losses(Session& session, bool at_end, trace::Nanoseconds now) {
    trace::Writer& writer = context_->writer;
    note_drops(writer, kName, "CUPTI had no buffer (LOCKSTEP_CUPTI_BUFFERS gives it more)",
               session.take_dropped(), last_drain_, now);
    note_drops(writer, kName, "buffers were used again before they could be read", session.take_discarded(),
               last_drain_, now);
    for (const Gap& gap : session.take_gaps(at_end, now)) {
      // How many events there would have been is not known: a count of 0.
      trace::Drop drop;
      drop.begin = gap.begin;
      drop.end = gap.end;
      drop.source = writer.intern(kName);
      drop.reason = writer.intern(gap.reason);
      writer.append(drop);
    }
  }

  std::string state_;
  std::string absent_;
  std::atomic<bool> forked_{false};
  SourceContext* context_ = nullptr;
  std::optional<ActivityEvents> events_;
  bool yielded_ = false;
  trace::Nanoseconds last_drain_ = 0;
};

bool wants_all_calls() {
  const char* const text = std::getenv("LOCKSTEP_CUDA_API");
  return text != nullptr && std::strcmp(text, "all") == 0;
}

void add_source(Source* source) {
  (void)Tracer::instance().add_source(*source);
}

void initialize_or_throw() {
  if (!is_wanted(kName)) return;
  Tracer& tracer = Tracer::instance();
  if (!prepare()) return;
  const auto lookup = [](const char* name) { return static_cast<const char*>(std::getenv(name)); };
  if (std::string nsight = nsight_in_process(lookup, loaded_libraries()); !nsight.empty()) {
    return add_source(new CuptiSource(
        "absent", "an Nsight tool has CUPTI (" + nsight + "): NVTX ranges are recorded alone"));
  }
  if (Session::instance().start(wants_all_calls())) {
    // The file is begun with the first records: a process that asks how many GPUs there are leaves none.
    return add_source(new CuptiSource("recording", ""));
  }
  std::string problem = Session::instance().problem();
  add_source(new CuptiSource("failed", problem.empty() ? "CUPTI can't be used" : problem));
  // Of a rank, that must not go unsaid, though it may make no event at all.
  if (identify_job().rank >= 0) (void)tracer.ensure_started();
}

}  // namespace

void initialize() noexcept {
  static std::atomic<bool> done{false};
  if (done.exchange(true)) return;
  const int saved = errno;
  try {
    initialize_or_throw();
  } catch (...) {
    // No memory: nothing is recorded of CUDA.
  }
  errno = saved;
}

}  // namespace lockstep::tracer::cupti

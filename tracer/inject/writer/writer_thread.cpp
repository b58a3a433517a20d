#include "tracer/inject/writer/writer_thread.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "tracer/inject/core/own_file.h"
#include "tracer/inject/core/thread_name.h"
#include "tracer/inject/ring/wake.h"
#include "tracer/protocol/notices.h"

namespace lockstep::tracer {

namespace {

// How long the first sleeps are, in milliseconds: a process that lives for a moment should leave its events
// behind even if it ends by _exit.
constexpr std::array<std::uint32_t, 6> kFirstSleeps{1, 2, 5, 10, 30, 100};
constexpr int kMaxFileAttempts = 1000;
// By then a job has said who it is and which lanes it has.
constexpr trace::Nanoseconds kRepeatTablesAfter = 10'000'000'000;
// All processes of a job may fail at once, and the recorder hears one after the other.
constexpr int kNoticeMilliseconds = 2000;

// The arguments of this process, joined with spaces.
std::string command_line() {
  std::string text = read_own_file(std::string("/proc/self/cmdline"));
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

// The system's words at the end of "cannot create 'PATH': No space left on device".
std::string reason_in(const Error& error) {
  const std::size_t reason = error.message.rfind("': ");
  return reason == std::string::npos ? error.message : error.message.substr(reason + 3);
}

}  // namespace

void WriterThread::run() {
  // The clock's first reading is older than the first event.
  clock_.add(tracer_.process().first_reading);
  if (const Status opened = open_file(); !opened.ok()) {
    // Before recording is off: the process's exit waits for this thread only while it is on, and would take
    // the notice with it.
    const std::string why = "its file could not be created: " + reason_in(opened.error());
    notices::send_and_leave_descriptors(why.c_str(), tracer_.process().job.rank, kNoticeMilliseconds);
    tracer_.turn_off();
    return;
  }
  const auto process = static_cast<std::uint64_t>(tracer_.process().process);
  host_lanes_.emplace(*writer_, process);
  events_.emplace(*writer_, nvtx::Registry::instance(), process, &*host_lanes_);
  context_.emplace(SourceContext{*writer_, clock_, tracer_.process(), *host_lanes_});
  controller_.emplace(*writer_, tracer_.process(), *this, path_);
  take_clock_snapshot(tracer_.process().first_reading);
  last_reading_ = tracer_.process().first_reading.monotonic;
  if (control::the_plan().survive_kill) {
    const auto work = [](void* thread) { static_cast<WriterThread*>(thread)->finish_after_death(); };
    if (!survivor_.start(writer_->descriptor(), work, this)) writer_->set_metadata(kNoSurvivorKey, "yes");
  }
  // What the file is of stands in it from now on, whatever becomes of the process.
  flush();
  for (std::size_t turn = 0;; ++turn) {
    const std::uint32_t sleep = turn < kFirstSleeps.size() ? kFirstSleeps[turn] : kDrainMilliseconds;
    if (!tracer_.stop_requested()) {
      survivor_.set(Survivor::InHand::nothing);
      tracer_.work_lock().release();
      wait_and_clear(tracer_.wake_word(), sleep);
      tracer_.work_lock().acquire();
      survivor_.set(Survivor::InHand::work);
      if (const char* const why = survivor_.look()) note_survivor_ended(why);
    }
    const bool stopping = tracer_.stop_requested();
    // The program has closed the descriptor, and the file can't be found any more.
    if (!writer_->hold_file()) break;
    drain();
    const bool early = turn < kFirstSleeps.size();
    controller_->end_drain(last_reading_, early);
    if (stopping) {
      events_->finish(last_reading_);
      for (Source* const source : sources_) source->finish(last_reading_);
      controller_->finish(last_reading_);
      flush();
      (void)writer_->close().ok();
      break;
    }
    if (!tables_repeated_ &&
        last_reading_ - tracer_.process().first_reading.monotonic >= kRepeatTablesAfter) {
      writer_->repeat_tables();
      tables_repeated_ = true;
    }
    if (early || last_reading_ - last_flush_ >= kFlushNanoseconds) flush();
    tracer_.pool().prepare_spare(&tracer_.wake_word());
  }
  tracer_.turn_off();
}

void WriterThread::note_survivor_ended(const char* why) {
  writer_->set_metadata(kSurvivorEndedKey,
                        std::to_string(read_clocks(tracer_.process().ticks).realtime) + " " + why);
  last_flush_ = 0;  // at once: whoever ended it may come to this process next
}

void WriterThread::flush() {
  // A full disk, or a limit: what is in the file stays readable. What comes is still taken from the threads,
  // so that it can be said how much it was.
  writer_->seal();
  survivor_.set(Survivor::InHand::resumable_work);
  const Status flushed = writer_->write();
  survivor_.set(Survivor::InHand::work);
  if (!flushed.ok() && unwritten_why_.empty()) {
    unwritten_why_ = reason_in(flushed.error());
    unwritten_since_ = read_clocks(tracer_.process().ticks).realtime;
  }
  last_flush_ = last_reading_;
  if (unwritten_why_.empty()) return;
  const std::uint64_t events = writer_->events_lost() + unwritten_in_rings_;
  // In place: a disk that is full takes that.
  (void)writer_
      ->replace_reserved(std::to_string(events) + " " + std::to_string(unwritten_since_) + " " +
                         unwritten_why_)
      .ok();
}

Status WriterThread::open_file() {
  const ProcessInfo& process = tracer_.process();
  std::string path;
  Error error;
  const bool may_be_rank = process.job.rank >= 0 && !process.is_helper;
  for (int attempt = may_be_rank ? 0 : 1; attempt < kMaxFileAttempts; ++attempt) {
    // A rank's file is taken by the first process of that rank that emits: its data loaders and helpers
    // inherit the launcher's variables, and get a file by process.
    const std::string name = attempt == 0 ? rank_file_name(process.job.rank, process.job.restart)
                                          : process_file_name(process.host, process.process, attempt);
    path = process.run_folder + "/" + name;
    Result<trace::Writer> created = trace::Writer::create(path.c_str(), control::writer_options());
    if (created.ok()) {
      writer_ = std::move(created).value();
      path_ = path;
      const bool is_rank = attempt == 0;
      if (is_rank) {
        writer_->set_metadata("rank", std::to_string(process.job.rank));
      } else if (process.job.rank >= 0) {
        writer_->set_metadata("inherited_rank", std::to_string(process.job.rank));
      }
      describe_process();
      return {};
    }
    error = created.error();
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) break;  // not "exists already": another name won't help
  }
  return error;
}

void WriterThread::describe_process() {
  const ProcessInfo& process = tracer_.process();
  const auto set = [&](const char* key, const std::string& value) { writer_->set_metadata(key, value); };
  if (process.job.rank >= 0) {
    if (process.job.world_size >= 0) set("world_size", std::to_string(process.job.world_size));
    if (process.job.local_rank >= 0) set("local_rank", std::to_string(process.job.local_rank));
    set("launcher", std::string(process.job.launcher));
    if (process.job.restart > 0) set("restart", std::to_string(process.job.restart));
  }
  set("host", process.host);
  set("process", std::to_string(process.process));
  set("parent_process", std::to_string(getppid()));
  set("command", command_line());
  set("start_realtime", std::to_string(process.first_reading.realtime));
  set("clock", "clock_monotonic");
  if (const std::string identity = clock_identity(); !identity.empty()) set(kClockIdentityKey, identity);
  set("clock_source", to_string(process.ticks));
  set("lockstep_version", LOCKSTEP_VERSION);
  writer_->reserve_metadata(kUnwrittenKey, kUnwrittenRoom);
}

void WriterThread::take_clock_snapshot(const ClockReading& reading) {
  trace::ClockSnapshot snapshot;
  snapshot.time = reading.monotonic;
  snapshot.realtime = reading.realtime;
  snapshot.monotonic_raw = reading.monotonic_raw;
  snapshot.tsc = tracer_.process().ticks == TickSource::tsc ? reading.ticks : 0;
  if (unwritten_why_.empty()) writer_->append(snapshot);
  last_snapshot_ = reading.monotonic;
}

void WriterThread::drain() {
  begin_new_sources();
  empty_rings(tracer_.stop_requested());
  retire_dead_threads();
}

void WriterThread::empty_rings(bool last) {
  RingPool& pool = tracer_.pool();
  const std::size_t count = pool.slot_count();
  if (producers_.size() < count) producers_.resize(count);
  // First how far each thread has come, then the clocks: all records up to there are older than the reading.
  for (std::size_t i = 0; i < count; ++i) {
    RingSlot& slot = pool.slot(i);
    if (slot.state.load(std::memory_order_acquire) != SlotState::in_use) continue;
    Producer& producer = producers_[i];
    if (producer.events == nullptr) {
      producer.taken = slot.taken.load(std::memory_order_relaxed);
      producer.thread = slot.thread.load(std::memory_order_relaxed);
      producer.events = &events_->add_thread(producer.thread, thread_system_name(producer.thread));
    }
    producer.head = slot.ring.head();
  }
  const ClockReading reading = read_clocks(tracer_.process().ticks);
  if (clock_.add(reading)) last_reading_ = reading.monotonic;
  // Every drain corrects the conversion; the file needs fewer, to relate its clock to others, and one at its
  // end.
  if (last || reading.monotonic - last_snapshot_ >= kSnapshotInterval) {
    take_clock_snapshot(reading);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (producers_[i].events != nullptr) drain_ring(pool.slot(i), producers_[i]);
  }
  count_drops(last_reading_);
  events_->end_drain(last_reading_);
  for (Source* const source : sources_) source->end_drain(last_reading_);
}

void WriterThread::finish_after_death() {
  if (!writer_->hold_file()) return;
  // The thread was in write(): with a disk that is slow the likeliest place by far.
  if (survivor_.in_hand() == Survivor::InHand::resumable_work && !writer_->resume_write().ok()) return;
  empty_rings(true);
  events_->finish(last_reading_);
  // What needs no lock of anybody's is safe then, whatever becomes of the rest.
  flush();
  for (Source* const source : sources_) source->finish(last_reading_);
  controller_->finish_after_death(last_reading_);
  writer_->set_metadata(trace::kWrittenAfterDeath, "yes");
  flush();
}

void WriterThread::begin_new_sources() {
  while (Source* const source = tracer_.source(static_cast<SourceId>(sources_.size()))) {
    sources_.push_back(source);
    source->begin(*context_);
    if (!source->nvtx_domain().empty()) events_->listen(source->nvtx_domain(), *source);
    if (!control::is_recording()) source->pause();
  }
}

void WriterThread::note_open_ranges() {
  events_->note_open_again();
  for (Source* const source : sources_) source->note_open();
}

void WriterThread::drain_ring(RingSlot& slot, Producer& producer) {
  Ring& ring = slot.ring;
  std::uint64_t position = ring.tail();
  // Room is given back in pieces, so that a thread that is waiting for it drops as little as possible.
  const std::uint64_t piece = ring.capacity() / 8;
  std::uint64_t given_back = position;
  while (position < producer.head) {
    const std::byte* record = ring.at(position);
    RecordHeader header;
    std::memcpy(&header, record, sizeof header);
    if (header.units == 0) break;  // never written by us: stop rather than loop
    if (header.kind == RecordKind::source) {
      if (header.domain == control::kControlRecords) {
        controller_->consume(header.flags, record + sizeof header, header.message_bytes,
                             clock_.convert(header.ticks));
      } else if (header.domain >= sources_.size()) {
        begin_new_sources();
      }
      if (header.domain < sources_.size()) {
        sources_[header.domain]->consume(producer.thread, header.flags, record + sizeof header,
                                         header.message_bytes, clock_.convert(header.ticks));
      }
    } else if (header.kind == RecordKind::push) {
      position += consume_push(ring, position, producer);
    } else if (header.kind != RecordKind::padding) {
      events_->consume(*producer.events, record, clock_.convert(header.ticks));
    }
    position += std::uint64_t{header.units} * kRecordUnit;
    if (position - given_back >= piece) {
      ring.consume_to(position);
      given_back = position;
    }
  }
  ring.consume_to(position);
}

std::uint64_t WriterThread::consume_push(const Ring& ring, std::uint64_t position, const Producer& producer) {
  const std::byte* const record = ring.at(position);
  RecordHeader push;
  std::memcpy(&push, record, sizeof push);
  // The application's core wrote these lines last: ask for them before they are needed.
  __builtin_prefetch(ring.at(position + kPrefetchDistance));
  const trace::Nanoseconds begin = clock_.convert(push.ticks);
  const std::uint64_t next = position + std::uint64_t{push.units} * kRecordUnit;
  if (next < producer.head) {
    RecordHeader pop;
    std::memcpy(&pop, ring.at(next), sizeof pop);
    if (pop.kind == RecordKind::pop && pop.flags == 0 && pop.domain == push.domain &&
        events_->consume_leaf(*producer.events, record, begin, clock_.convert(pop.ticks))) {
      return std::uint64_t{pop.units} * kRecordUnit;
    }
  }
  events_->consume(*producer.events, record, begin);
  return 0;
}

void WriterThread::count_drops(trace::Nanoseconds now) {
  RingPool& pool = tracer_.pool();
  std::uint64_t full = 0;
  std::uint64_t reentrant = 0;
  for (std::size_t i = 0; i < producers_.size(); ++i) {
    // Each is read once: the thread goes on dropping while we count.
    const Ring& ring = pool.slot(i).ring;
    const std::uint64_t dropped = ring.dropped();
    full += dropped - std::exchange(producers_[i].dropped, dropped);
    const std::uint64_t reentrant_drops = ring.reentrant_drops();
    reentrant += reentrant_drops - std::exchange(producers_[i].reentrant, reentrant_drops);
  }
  const std::uint64_t elsewhere = tracer_.reentrant_without_ring();
  reentrant += elsewhere - std::exchange(reentrant_without_ring_, elsewhere);
  const std::uint64_t unbuffered = pool.unbuffered_drops();
  if (!unwritten_why_.empty()) {
    unwritten_in_rings_ += full + reentrant;
    return;
  }
  events_->note_drops(full, "ring full", now);
  events_->note_drops(reentrant, "call from a signal handler that interrupted the tracer", now);
  events_->note_drops(unbuffered - std::exchange(unbuffered_, unbuffered), "more threads than buffers", now);
  const std::uint64_t refused = tracer_.refused();
  events_->note_drops(refused - std::exchange(refused_, refused), "more domains than can be told apart", now);
}

void WriterThread::retire_dead_threads() {
  RingPool& pool = tracer_.pool();
  const auto process = tracer_.process().process;
  for (std::size_t i = 0; i < producers_.size(); ++i) {
    Producer& producer = producers_[i];
    if (producer.events == nullptr) continue;
    // Signal 0 only asks whether the thread is there. Another ring of the same thread id, taken later, means
    // that this one's thread is gone and its id is used again.
    bool gone = syscall(SYS_tgkill, process, producer.thread, 0) != 0 && errno == ESRCH;
    for (std::size_t k = 0; k < producers_.size() && !gone; ++k) {
      gone = k != i && producers_[k].events != nullptr && producers_[k].thread == producer.thread &&
             producers_[k].taken > producer.taken;
    }
    RingSlot& slot = pool.slot(i);
    // Its last records may have come after this drain began: then the next drain gets them first.
    if (!gone || slot.ring.head() != slot.ring.tail()) continue;
    events_->end_thread(*producer.events);
    producer.events = nullptr;
    pool.recycle(slot);
  }
}

}  // namespace lockstep::tracer

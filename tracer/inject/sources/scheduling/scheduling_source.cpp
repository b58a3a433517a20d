#include "tracer/inject/sources/scheduling/scheduling_source.h"

#include <cmath>
#include <new>

#include "trace/events/scheduling.h"
#include "tracer/inject/core/training_threads.h"
#include "tracer/inject/sources/scheduling/allowed_cores.h"
#include "tracer/inject/writer/prepare.h"

namespace lockstep::tracer::scheduling {

namespace {

constexpr double kStep = 1.0 / 1024;
// In place of a value: nobody looked since the point before.
constexpr double kUnknown = -1;

// How often it is asked which cores the process may run on: programs choose theirs late, once they know their
// rank.
constexpr trace::Nanoseconds kBetweenCores = 2'000'000'000;

// False once the disk was full, or the file was gone.
bool goes_on() noexcept {
  return prepare();
}

}  // namespace

SchedulingSource::Work::Work(Work* before) : sampler(goes_on), inherited(before) {}

void SchedulingSource::begin(SourceContext& context) {
  context_ = &context;
  tried_ = told_problem_ = false;
  told_threads_ = 0;
  threads_text_.clear();
  written_to_.reset();
  cores_told_at_.reset();
  core_set_.clear();
  core_quota_ = 0;
  on_cpu_ = runnable_ = waited_ = {};
  stopped_.store(false, std::memory_order_relaxed);
}

void SchedulingSource::start() {
  tried_ = true;
  const auto lane = [&](std::string_view counter) {
    trace::Lane description;
    description.kind = trace::LaneKind::counter;
    description.process = static_cast<std::uint64_t>(context_->process.process);
    description.name = counter;
    return context_->writer.add_lane(description);
  };
  Work* const work = new (std::nothrow) Work(work_);
  if (work != nullptr) work_ = work;
  if (work != nullptr && paused_.load(std::memory_order_acquire)) work->sampler.pause();
  if (work == nullptr || !work->sampler.start()) {
    describe_source(context_->writer, name(), "failed",
                    "no thread could be started to watch the threads that train");
    return;
  }
  RunSampler& sampler = work->sampler;
  running_.store(&sampler, std::memory_order_release);
  // The gate may have changed meanwhile.
  paused_.load(std::memory_order_acquire) ? sampler.pause() : sampler.resume();
  on_cpu_.lane = lane(trace::kOnCpuCounter);
  runnable_.lane = lane(trace::kRunnableCounter);
  waited_.lane = lane(trace::kWaitedCounter);
  describe_source(context_->writer, name(), "recording");
}

// What it may use now is what counts: it trains for longer than it starts.
void SchedulingSource::tell_cores(trace::Nanoseconds now) {
  if (cores_told_at_.has_value() && now - *cores_told_at_ < kBetweenCores) return;
  cores_told_at_ = now;
  const AllowedCores cores = read_allowed_cores(training_thread(0));
  if (cores.count > 0 && cores.set != core_set_) {
    context_->writer.set_metadata(trace::kCoresKey, std::to_string(cores.count));
    context_->writer.set_metadata(trace::kCoreSetKey, cores.set);
    core_set_ = cores.set;
  }
  if (cores.quota > 0 && cores.quota != core_quota_) {
    context_->writer.set_metadata(trace::kCoreQuotaKey, std::to_string(cores.quota));
    core_quota_ = cores.quota;
  }
}

void SchedulingSource::write(Track& track, const RunInterval& interval, std::uint64_t ns) {
  const auto length = static_cast<double>(interval.end - interval.begin);
  const std::int64_t wanted = static_cast<std::int64_t>(ns) + track.left_ns;
  const double steps = std::max(0.0, std::round(static_cast<double>(wanted) / length / kStep));
  const double value = steps * kStep;
  track.left_ns = wanted - std::llround(value * length);
  context_->writer.append(trace::Counter{track.lane, interval.end, value});
}

void SchedulingSource::write(const RunInterval& interval) {
  if (written_to_ != interval.begin) {
    for (Track* const track : {&on_cpu_, &runnable_, &waited_}) {
      track->left_ns = 0;
      context_->writer.append(trace::Counter{track->lane, interval.begin, kUnknown});
    }
  }
  written_to_ = interval.end;
  write(on_cpu_, interval, interval.on_cpu_ns);
  write(runnable_, interval, interval.runnable_ns);
  write(waited_, interval, interval.waited_ns);
}

void SchedulingSource::tell_threads() {
  const FollowedThreads& threads = work_->sampler.threads();
  const std::size_t count = threads.logged();
  if (count == told_threads_) return;
  for (; told_threads_ < count; ++told_threads_) {
    const FollowedThreads::Entry entry = threads.log(told_threads_);
    threads_text_ +=
        (threads_text_.empty() ? "" : ",") + std::to_string(entry.thread) + ":" + std::to_string(entry.since);
  }
  context_->writer.set_metadata(trace::kTrainingThreadsKey, threads_text_);
}

void SchedulingSource::end_drain(trace::Nanoseconds now) {
  // A forked helper of a rank (a data loader) does not train, whatever it calls.
  if (!tried_ && training_thread(0) != 0 && !context_->process.is_helper) start();
  if (running_.load(std::memory_order_relaxed) == nullptr) return;
  tell_threads();
  tell_cores(now);
  RunInterval interval;
  while (work_->sampler.fetch(interval)) write(interval);
  if (!work_->sampler.can_read() && !told_problem_) {
    told_problem_ = true;
    const char* const problem =
        "when threads wait for a core: /proc/self/task/*/schedstat cannot be read, or this kernel does not "
        "count it";
    describe_source(context_->writer, name(), written_to_.has_value() ? "recording" : "absent", problem);
  }
}

void SchedulingSource::finish(trace::Nanoseconds now) {
  RunSampler* const sampler = running_.load(std::memory_order_relaxed);
  if (sampler != nullptr && !stopped_.load(std::memory_order_acquire)) sampler->stop();
  end_drain(now);
}

void SchedulingSource::after_fork_in_child() noexcept {
  running_.store(nullptr, std::memory_order_relaxed);
  tried_ = false;
  forget_training_threads();
}

void SchedulingSource::before_exit() noexcept {
  RunSampler* const sampler = running_.load(std::memory_order_acquire);
  if (sampler == nullptr) return;
  sampler->stop();
  stopped_.store(true, std::memory_order_release);
}

void SchedulingSource::pause() noexcept {
  paused_.store(true, std::memory_order_release);
  if (RunSampler* const sampler = running_.load(std::memory_order_acquire); sampler != nullptr)
    sampler->pause();
}

void SchedulingSource::resume() noexcept {
  paused_.store(false, std::memory_order_release);
  if (RunSampler* const sampler = running_.load(std::memory_order_acquire); sampler != nullptr)
    sampler->resume();
}

void register_if_wanted() noexcept {
  if (!is_wanted("scheduling")) return;
  Tracer& tracer = Tracer::instance();
  if (!prepare()) return;
  static SchedulingSource* const source = new (std::nothrow) SchedulingSource;  // never destroyed
  if (source != nullptr) (void)tracer.add_source(*source);
}

}  // namespace lockstep::tracer::scheduling

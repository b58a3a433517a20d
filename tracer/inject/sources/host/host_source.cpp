#include "tracer/inject/sources/host/host_source.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#include "tracer/inject/sources/host/gpu_meter.h"
#include "tracer/inject/sources/host/node_meter.h"
#include "tracer/inject/sources/host/process_meter.h"
#include "tracer/inject/writer/prepare.h"

namespace lockstep::tracer::host {

namespace {

// Where there is no driver, NVML's library need not be looked for.
const char* nvml_library() {
  const char* const other = std::getenv("LOCKSTEP_NVML");  // for tests
  if (other != nullptr && other[0] != '\0') return other;
  return access("/proc/driver/nvidia/version", F_OK) == 0 ? "libnvidia-ml.so.1" : nullptr;
}

// False once the disk was full, or the file was gone.
bool goes_on() noexcept {
  return prepare();
}

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && std::string_view(value) == "1";
}

// Counters of the process and its node, and of its GPUs with them.
bool wants_host() {
  return is_set("LOCKSTEP_CPU") || is_wanted("cpu");
}

}  // namespace

void HostSource::add_meter(Work& work, std::vector<std::size_t>& counts, std::unique_ptr<Meter> meter) {
  const std::size_t before = work.quantities.size();
  meter->describe(work.quantities);
  if (work.quantities.size() > kMaxQuantities) {
    work.quantities.resize(before);  // a node with more of everything than there is room for
    return;
  }
  counts.push_back(work.quantities.size() - before);
  work.meters.push_back(std::move(meter));
}

void HostSource::begin(SourceContext& context) {
  context_ = &context;
  auto work = std::make_unique<Work>();
  std::vector<std::size_t> counts;
  const bool host = wants_host();  // else --sources nvml: GPUs alone
  if (host) {
    add_meter(*work, counts, std::make_unique<ProcessMeter>());
    add_meter(*work, counts, std::make_unique<ThreadMeter>());
  }
  const JobIdentity& job = context.process.job;
  const bool is_helper = context.process.is_helper;
  // The node's counters are everyone's: one process tells them.
  if (host && !is_helper && job.local_rank <= 0) add_meter(*work, counts, std::make_unique<NodeMeter>());
  // NVML does not survive a fork.
  const char* const nvml = is_helper || in_child_ ? nullptr : nvml_library();
  if (nvml != nullptr) add_meter(*work, counts, std::make_unique<GpuMeter>(nvml, job.local_rank));
  // Of a forked child its parent tells.
  if (!is_helper && !in_child_)
    describe_source(context.writer, "nvml", nvml != nullptr ? "recording" : "absent",
                    nvml != nullptr ? "" : "no NVIDIA driver");
  std::vector<Meter*> meters;
  meters.reserve(work->meters.size());
  for (const std::unique_ptr<Meter>& meter : work->meters) meters.push_back(meter.get());
  work->sampler = std::make_unique<Sampler>(std::move(meters), std::move(counts), goes_on);
  work->inherited = work_;
  work_ = work.release();
  lost_ = 0;
  stopped_.store(false, std::memory_order_relaxed);
  described_.clear();
  series_.emplace(context.writer, static_cast<std::uint64_t>(context.process.process), work_->quantities);
  if (work_->sampler->start()) {
    running_.store(work_->sampler.get(), std::memory_order_release);
    describe_source(context.writer, name(), "recording");
  } else {
    describe_source(context.writer, name(), "failed", "no thread could be started to read the counters");
  }
}

void HostSource::describe() {
  std::string problem;
  for (const std::unique_ptr<Meter>& meter : work_->meters) {
    const std::string one = meter->problem();
    if (!one.empty()) problem += (problem.empty() ? "" : "; ") + one;
  }
  if (problem == described_) return;
  described_ = problem;
  describe_source(context_->writer, name(), "recording", problem);
}

void HostSource::end_drain(trace::Nanoseconds now) {
  if (running_.load(std::memory_order_relaxed) == nullptr) return;
  Sample sample;
  bool any = false;
  while (work_->sampler->fetch(sample)) {
    series_->add(sample);
    any = true;
  }
  if (any) describe();
  const std::uint64_t lost = work_->sampler->lost();
  note_drops(context_->writer, name(), "samples that were not written in time",
             lost - std::exchange(lost_, lost), last_drain_, now);
  last_drain_ = now;
}

void HostSource::finish(trace::Nanoseconds now) {
  if (running_.load(std::memory_order_relaxed) == nullptr) return;
  // before_exit() took a last sample, unless the process was over before begin(): then this is the first.
  if (!stopped_.load(std::memory_order_acquire)) work_->sampler->stop();
  end_drain(now);
  series_->finish();
}

void HostSource::after_fork_in_child() noexcept {
  running_.store(nullptr, std::memory_order_relaxed);
  in_child_ = true;
}

void HostSource::before_exit() noexcept {
  Sampler* const sampler = running_.load(std::memory_order_acquire);
  if (sampler == nullptr) return;
  sampler->stop();
  stopped_.store(true, std::memory_order_release);
}

void register_if_wanted() noexcept {
  if (!wants_host() && !is_wanted("nvml")) return;
  Tracer& tracer = Tracer::instance();
  if (!prepare()) return;
  static HostSource* const source = new (std::nothrow) HostSource;  // never destroyed: it outlives everything
  if (source == nullptr || tracer.add_source(*source) == Tracer::kNoSource) return;
  // A list may leave out all that would otherwise begin the file with its first event.
  if (std::getenv("LOCKSTEP_SOURCES") != nullptr) (void)tracer.ensure_started();
}

}  // namespace lockstep::tracer::host

#include "tests/accuracy/simulate.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace lockstep::accuracy {
namespace {

using analyzer::Activity;
using analyzer::Class;
using analyzer::Job;
using analyzer::kNone;
using analyzer::Nanoseconds;
using analyzer::RankTrace;

constexpr Nanoseconds kMicrosecond = 1000;
constexpr Nanoseconds kStep = 100'000 * kMicrosecond;  // a rank's own time in a typical step
constexpr Nanoseconds kLaunch = 10 * kMicrosecond;
constexpr Nanoseconds kSkew = 20 * kMicrosecond;  // between the ends of a collective on its ranks, at most
constexpr std::int32_t kRanksOfHost = 8;
constexpr int kPeriod = 10;
constexpr std::size_t kBuckets = 3;
constexpr std::int64_t kBytes = 25 << 20;
// Forward, the parts of backward, optimizer: shares of a step's compute.
constexpr std::array<double, kBuckets + 2> kShares{0.32, 0.21, 0.21, 0.21, 0.05};
enum Lane : std::uint32_t { kHost, kDevice, kWire };

Nanoseconds of_step(double share) {
  return static_cast<Nanoseconds>(share * static_cast<double>(kStep));
}

// A rank while it is simulated.
struct Worker {
  Worker(const NoiseRecording& noise, std::uint64_t seed, const Plan& plan)
      : noise(noise, seed, plan.noise_scale, static_cast<std::size_t>(plan.steps), plan.levelled) {}
  RankNoise noise;
  RankTrace trace;
  Nanoseconds host = 0;    // until when its host thread is busy
  Nanoseconds device = 0;  // its computing lane
  Nanoseconds wire = 0;    // its communicating lane
  Nanoseconds step_begin = 0;
  Nanoseconds arrival = 0;         // at the all-reduce at hand
  Nanoseconds launched = 0;        // the call that launched it
  Nanoseconds backward_begin = 0;  // on a CPU: one range for all parts
  std::array<Nanoseconds, kBuckets + 2> parts{};
};

class Simulation {
 public:
  Simulation(const Plan& plan, const NoiseRecording& noise)
      : plan_(plan), typical_compute_(noise.typical.compute), random_(plan.seed) {
    for (const char* name : {"forward", "backward", "optimizer", "all_reduce", "data_loading", "tokenize"})
      names_.push_back(job_.strings.intern(name));
    workers_.reserve(static_cast<std::size_t>(plan.ranks));
    for (std::int32_t rank = 0; rank < plan.ranks; ++rank) {
      Worker& worker = workers_.emplace_back(noise, random_.next(), plan);
      worker.trace = empty_trace(rank);
    }
    wire_noise_ = std::make_unique<RankNoise>(noise, random_.next(), plan.noise_scale,
                                              kBuckets * static_cast<std::size_t>(plan.steps));
    if (plan.fault == Fault::midway)
      begins_at_ = static_cast<int>(random_.uniform(0.3, 0.7) * static_cast<double>(plan.steps));
  }

  Job run() {
    for (int step = 0; step < plan_.steps; ++step) simulate_step(step);
    job_.path = "simulated";
    job_.sources = {"simulated"};
    job_.world_size = plan_.ranks;
    std::vector<std::int32_t> all;
    for (const Worker& worker : workers_) all.push_back(worker.trace.rank);
    job_.groups.push_back({"world", "data parallel", std::move(all), plan_.ranks});
    for (Worker& worker : workers_) {
      put_in_order(worker.trace);
      job_.ranks.push_back(std::move(worker.trace));
    }
    return std::move(job_);
  }

 private:
  enum Name : std::size_t { kForward, kBackward, kOptimizer, kAllReduce, kLoading, kHostWork };

  bool on_gpu() const { return plan_.platform == Platform::gpu; }

  RankTrace empty_trace(std::int32_t rank) const {
    RankTrace trace;
    trace.rank = rank;
    trace.host = "host-" + std::to_string(plan_.fault == Fault::link ? rank : rank / kRanksOfHost);
    trace.device = on_gpu() ? "cuda:" + std::to_string(rank % kRanksOfHost) : "cpu";
    trace.clock.evidence = "same host";
    if (!on_gpu()) {  // as `lockstep record` tells, of a host with a core for each rank
      trace.core_set = std::to_string(rank % kRanksOfHost);
      trace.off_cpu_known = true;
      trace.scheduling = {{0, 0, 0, 0, false}};
    }
    if (on_gpu())
      trace.lanes = {{trace::LaneKind::host_thread, 1, "python"},
                     {trace::LaneKind::device_stream, 7, "stream 7"},
                     {trace::LaneKind::device_stream, 20, "stream 20"}};
    else
      trace.lanes = {{trace::LaneKind::host_thread, 1, "python"},
                     {trace::LaneKind::compute_thread, 1, "python"},
                     {trace::LaneKind::communication, 2, "gloo"}};
    return trace;
  }

  // What the fault adds to a rank in a step, as a share of a typical step.
  double planted(Fault kind, std::int32_t rank, int step, std::int32_t turn) const {
    if (kind == Fault::compute && plan_.fault == Fault::changing) return rank == turn ? plan_.effect : 0;
    if (rank != plan_.slow_rank) return 0;
    if (kind == plan_.fault) return plan_.effect;
    if (kind != Fault::compute) return 0;
    if (plan_.fault == Fault::periodic) return step % kPeriod == kPeriod / 2 ? kPeriod * plan_.effect : 0;
    if (plan_.fault == Fault::growing)
      return 2 * plan_.effect * (step + 0.5) / static_cast<double>(plan_.steps);
    if (plan_.fault == Fault::midway) return step >= begins_at_ ? plan_.effect : 0;
    return 0;
  }

  void simulate_step(int step) {
    const auto turn = static_cast<std::int32_t>(random_.below(workers_.size()));
    for (Worker& worker : workers_) begin_step(worker, step, turn);
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
      for (Worker& worker : workers_) backward(worker, bucket);
      all_reduce(step, bucket, turn);
    }
    for (Worker& worker : workers_) end_step(worker, step);
  }

  void begin_step(Worker& worker, int step, std::int32_t turn) {
    const std::int32_t rank = worker.trace.rank;
    const StepNoise noise = worker.noise.next();
    share_out(worker, noise.compute, planted(Fault::compute, rank, step, turn));
    worker.step_begin = worker.host;
    const Nanoseconds loading = of_step(noise.loading + planted(Fault::loader, rank, step, turn));
    if (loading > 0)
      worker.trace.host_ranges.push_back(
          {worker.host, worker.host + loading, names_[kLoading], kHost, 0, analyzer::HostKind::data_loading});
    worker.host += loading + of_step(noise.other);
    const Nanoseconds on_host = of_step(planted(Fault::host, rank, step, turn));
    if (on_host > 0 && !on_gpu())
      worker.trace.host_ranges.push_back(
          {worker.host, worker.host + on_host, names_[kHostWork], kHost, 0, analyzer::HostKind::other});
    worker.host += on_host;
    compute(worker, kForward, worker.parts[0]);
    worker.backward_begin = worker.device;
  }

  // What a step takes longer than a typical one hits the whole step half of the time, else one part of it, as
  // a burst would. What is planted hits all of it.
  void share_out(Worker& worker, double compute, double planted) {
    const bool is_burst = compute > typical_compute_ && random_.uniform() < 0.5;
    const double everywhere = (is_burst ? typical_compute_ : compute) + planted;
    const std::size_t hit = random_.below(kShares.size());
    for (std::size_t part = 0; part < kShares.size(); ++part) {
      const double burst = is_burst && part == hit ? compute - typical_compute_ : 0;
      worker.parts[part] = std::max(kMicrosecond, of_step(everywhere * kShares[part] + burst));
    }
  }

  void compute(Worker& worker, Name name, Nanoseconds time) {
    Activity activity;
    if (on_gpu()) {
      activity.launch_begin = worker.host;
      worker.host += kLaunch;
      activity.launch_end = worker.host;
      activity.begin = std::max(worker.device, worker.host);
    } else {
      activity.begin = activity.launch_begin = activity.launch_end = std::max(worker.device, worker.host);
    }
    activity.end = worker.device = activity.begin + time;
    if (!on_gpu()) worker.host = activity.end;
    activity.name = names_[name];
    activity.lane = kDevice;
    worker.trace.activities.push_back(activity);
  }

  void backward(Worker& worker, std::size_t bucket) {
    const Nanoseconds time = worker.parts[1 + bucket];
    if (on_gpu()) {
      compute(worker, kBackward, time);
      worker.launched = worker.host;
      worker.host += kLaunch;
    } else {
      worker.device += time;
      worker.launched = worker.host = worker.device;
    }
    worker.arrival = std::max(worker.device, worker.wire);
  }

  void all_reduce(int step, std::size_t bucket, std::int32_t turn) {
    Nanoseconds last = 0;
    for (const Worker& worker : workers_) last = std::max(last, worker.arrival);
    const Nanoseconds end = last + of_step(plan_.transfer_share * wire_noise_->next().transfer);
    for (Worker& worker : workers_) {
      Activity activity;
      activity.activity_class = Class::collective;
      activity.begin = worker.arrival;
      activity.end = end + static_cast<Nanoseconds>(random_.below(kSkew)) +
                     of_step(planted(Fault::link, worker.trace.rank, step, turn));
      activity.launch_begin = worker.launched;
      activity.launch_end = on_gpu() ? worker.launched + kLaunch : worker.launched;
      activity.name = names_[kAllReduce];
      activity.lane = kWire;
      activity.communication = static_cast<std::uint32_t>(worker.trace.communications.size());
      worker.wire = activity.end;
      analyzer::Communication communication;
      communication.group = 0;
      communication.operation = analyzer::Operation::all_reduce;
      communication.data_type = analyzer::DataType::float32;
      communication.has_metadata = true;
      communication.sequence = static_cast<std::int64_t>(step) * kBuckets + static_cast<std::int64_t>(bucket);
      communication.bytes = kBytes;
      worker.trace.activities.push_back(activity);
      worker.trace.communications.push_back(communication);
    }
  }

  void end_step(Worker& worker, int step) {
    if (!on_gpu()) {  // one range of backward, then the thread waits for the last bucket
      Activity activity;
      activity.begin = activity.launch_begin = activity.launch_end = worker.backward_begin;
      activity.end = worker.device;
      activity.name = names_[kBackward];
      activity.lane = kDevice;
      worker.trace.activities.push_back(activity);
      tell_scheduling(worker.trace, worker.step_begin, worker.device);
    }
    worker.device = std::max(worker.device, worker.wire);
    compute(worker, kOptimizer, worker.parts.back());
    if (!on_gpu())
      tell_scheduling(worker.trace, worker.trace.activities.back().begin, worker.trace.activities.back().end);
    worker.host = std::max(worker.host, worker.device);
    worker.trace.steps.push_back({step, worker.step_begin, worker.host});
  }

  // The thread ran on a core throughout, and did nothing since what was told before.
  static void tell_scheduling(RankTrace& trace, Nanoseconds begin, Nanoseconds end) {
    analyzer::SchedulingPoint point = trace.scheduling.back();
    point.known = true;
    if (begin > point.time) {
      point.time = begin;
      trace.scheduling.push_back(point);
    }
    if (end <= begin) return;
    point.time = end;
    point.on_cpu_ns += end - begin;
    trace.scheduling.push_back(point);
  }

  // As job.h promises.
  static void put_in_order(RankTrace& trace) {
    std::stable_sort(
        trace.activities.begin(), trace.activities.end(), [](const Activity& a, const Activity& b) {
          return std::tie(a.begin, a.launch_begin, a.end) < std::tie(b.begin, b.launch_begin, b.end);
        });
    // All-reduces were made in the order in which they begin: communications are in order already.
    std::uint32_t communication = 0;
    for (std::uint32_t row = 0; row < trace.activities.size(); ++row) {
      Activity& activity = trace.activities[row];
      if (activity.communication == kNone) continue;
      activity.communication = communication;
      trace.communications[communication++].activity = row;
    }
  }

  const Plan& plan_;
  double typical_compute_ = 1;
  Random random_;
  Job job_;
  std::vector<std::uint32_t> names_;
  std::vector<Worker> workers_;
  std::unique_ptr<RankNoise> wire_noise_;
  int begins_at_ = 0;  // Fault::midway
};

}  // namespace

std::string_view to_string(Fault fault) {
  constexpr std::array<std::string_view, kFaultCount> kNames{
      "none", "compute", "loader", "host", "link", "periodic", "growing", "changing", "midway"};
  return kNames[static_cast<std::size_t>(fault)];
}

std::string_view to_string(Platform platform) {
  return platform == Platform::gpu ? "gpu" : "cpu";
}

Job simulate(const Plan& plan, const NoiseRecording& noise) {
  return Simulation(plan, noise).run();
}

}  // namespace lockstep::accuracy

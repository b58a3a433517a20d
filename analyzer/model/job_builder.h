// For tests: hand-made jobs that read like a timeline.
//
//   JobBuilder job;
//   job.rank(0).compute(0, 10).all_reduce(10, 30);
//   job.rank(1).compute(0, 25).all_reduce(25, 31).launched(20, 22);
//   Result<Analysis> analysis = analyze(job.build());
//
// Times are ns. A modifier (launched, bytes, in_group, …) says more of the activity before it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

class RankBuilder {
 public:
  RankBuilder(StringTable& strings, std::int32_t rank) : strings_(strings) {
    trace_.rank = rank;
    trace_.lanes = {{trace::LaneKind::host_thread, 1, "host"},
                    {trace::LaneKind::device_stream, 7, "stream 7"}};
  }

  RankBuilder& compute(Nanoseconds begin, Nanoseconds end, const std::string& name = "kernel") {
    return activity(Class::compute, begin, end, name);
  }
  // A pass of a layer (-1: none) for a microbatch (-1: none).
  RankBuilder& pass(Pass pass, int layer, int microbatch, Nanoseconds begin, Nanoseconds end) {
    activity(Class::compute, begin, end,
             layer < 0 ? std::string(trace::to_string(pass))
                       : std::string(trace::to_string(pass)) + " layer " + std::to_string(layer));
    return part_of(pass, layer, microbatch);
  }
  RankBuilder& part_of(Pass pass, int layer, int microbatch) {
    const Computation computation{layer, microbatch, pass};
    const auto found = std::find(trace_.computations.begin(), trace_.computations.end(), computation);
    trace_.activities.back().compute = static_cast<std::uint32_t>(found - trace_.computations.begin());
    if (found == trace_.computations.end()) trace_.computations.push_back(computation);
    return *this;
  }
  RankBuilder& forward(int layer, int microbatch, Nanoseconds begin, Nanoseconds end) {
    return pass(Pass::forward, layer, microbatch, begin, end);
  }
  RankBuilder& backward(int layer, int microbatch, Nanoseconds begin, Nanoseconds end) {
    return pass(Pass::backward, layer, microbatch, begin, end);
  }
  RankBuilder& copy(Nanoseconds begin, Nanoseconds end) {
    return activity(Class::copy, begin, end, "memcpy");
  }
  RankBuilder& sync(Nanoseconds begin, Nanoseconds end) { return activity(Class::sync, begin, end, "sync"); }
  RankBuilder& unclassified(Nanoseconds begin, Nanoseconds end) {
    return activity(Class::unclassified, begin, end, "my_allreduce");
  }
  RankBuilder& collective(Operation operation, Nanoseconds begin, Nanoseconds end) {
    activity(Class::collective, begin, end, trace::to_string(operation));
    return communication(operation);
  }
  RankBuilder& all_reduce(Nanoseconds begin, Nanoseconds end) {
    return collective(Operation::all_reduce, begin, end);
  }
  RankBuilder& p2p(Operation operation, std::int32_t peer, Nanoseconds begin, Nanoseconds end) {
    activity(Class::p2p, begin, end, trace::to_string(operation));
    communication(operation);
    communications_.back().peer = peer;
    return *this;
  }
  RankBuilder& send(std::int32_t to, Nanoseconds begin, Nanoseconds end) {
    return p2p(Operation::send, to, begin, end);
  }
  RankBuilder& recv(std::int32_t from, Nanoseconds begin, Nanoseconds end) {
    return p2p(Operation::recv, from, begin, end);
  }

  RankBuilder& launched(Nanoseconds begin, Nanoseconds end) {
    trace_.activities.back().launch_begin = begin;
    trace_.activities.back().launch_end = end;
    return *this;
  }
  // "all_gather layer 3": as the program calls it.
  RankBuilder& named(const std::string& name) {
    trace_.activities.back().name = strings_.intern(name);
    return *this;
  }
  RankBuilder& shaped(std::uint32_t shape, std::uint32_t warps = 0) {
    trace_.activities.back().shape = shape;
    trace_.activities.back().warps = warps;
    return *this;
  }
  RankBuilder& in_step(std::uint32_t step_index) {
    trace_.activities.back().step = step_index;
    return *this;
  }
  RankBuilder& in_group(std::uint32_t group) {
    communications_.back().group = group;
    communications_.back().has_metadata = true;
    return *this;
  }
  RankBuilder& sequence(std::int64_t number) {
    communications_.back().sequence = number;
    return *this;
  }
  RankBuilder& bytes(std::int64_t count) {
    communications_.back().bytes = count;
    return *this;
  }
  RankBuilder& of(DataType type) {
    communications_.back().data_type = type;
    return *this;
  }
  RankBuilder& root(std::int32_t rank) {
    communications_.back().peer = rank;
    return *this;
  }

  RankBuilder& step(std::int64_t number, Nanoseconds begin, Nanoseconds end) {
    trace_.steps.push_back({number, begin, end});
    return *this;
  }
  RankBuilder& data_loading(Nanoseconds begin, Nanoseconds end) {
    trace_.host_ranges.push_back({begin, end, strings_.intern("data_loading"), 0, 0, HostKind::data_loading});
    return *this;
  }
  RankBuilder& host_range(Nanoseconds begin, Nanoseconds end, const std::string& name, int depth = 0) {
    trace_.host_ranges.push_back(
        {begin, end, strings_.intern(name), 0, static_cast<std::uint16_t>(depth), HostKind::other});
    return *this;
  }
  RankBuilder& counter(const std::string& name, Nanoseconds time, double value) {
    const auto found = std::find_if(trace_.counters.begin(), trace_.counters.end(),
                                    [&](const CounterTrack& track) { return track.name == name; });
    CounterTrack& track = found == trace_.counters.end() ? trace_.counters.emplace_back() : *found;
    track.name = name;
    track.points.push_back({time, value});
    return *this;
  }
  // Anything that the words above do not say.
  RankTrace& trace() { return trace_; }

  // The columns in the order that job.h promises.
  RankTrace build() const {
    RankTrace result = trace_;
    std::vector<std::uint32_t> order(trace_.activities.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto key = [this](std::uint32_t row) {
      const Activity& activity = trace_.activities[row];
      return std::tuple(activity.begin, activity.launch_begin, activity.end);
    };
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return key(a) < key(b); });
    for (std::uint32_t row = 0; row < order.size(); ++row) {
      Activity& activity = result.activities[row];
      activity = trace_.activities[order[row]];
      if (activity.communication == kNone) continue;
      result.communications.push_back(communications_[activity.communication]);
      result.communications.back().activity = row;
      activity.communication = static_cast<std::uint32_t>(result.communications.size() - 1);
    }
    return result;
  }

 private:
  RankBuilder& activity(Class activity_class, Nanoseconds begin, Nanoseconds end, const std::string& name) {
    Activity activity;
    activity.begin = begin;
    activity.end = end;
    activity.name = strings_.intern(name);
    activity.lane = 1;
    activity.activity_class = activity_class;
    trace_.activities.push_back(activity);
    return *this;
  }
  RankBuilder& communication(Operation operation) {
    Communication communication;
    communication.operation = operation;
    trace_.activities.back().communication = static_cast<std::uint32_t>(communications_.size());
    communications_.push_back(communication);
    return *this;
  }

  StringTable& strings_;
  RankTrace trace_;
  std::vector<Communication> communications_;  // in the order of calls
};

class JobBuilder {
 public:
  RankBuilder& rank(std::int32_t number) {
    return ranks_.try_emplace(number, job_->strings, number).first->second;
  }
  std::uint32_t group(const std::string& name, std::vector<std::int32_t> ranks,
                      const std::string& description = "") {
    job_->groups.push_back({name, description, std::move(ranks)});
    return static_cast<std::uint32_t>(job_->groups.size() - 1);
  }
  JobBuilder& missing(std::int32_t rank) {
    job_->ranks_missing.push_back(rank);
    return *this;
  }
  Job build() const {
    Job job = *job_;
    job.path = "hand-made";
    for (const auto& [number, builder] : ranks_) job.ranks.push_back(builder.build());
    job.world_size = static_cast<std::int32_t>(job.ranks.size() + job.ranks_missing.size());
    return job;
  }

 private:
  std::unique_ptr<Job> job_ = std::make_unique<Job>();  // ranks refer to its strings
  std::map<std::int32_t, RankBuilder> ranks_;
};

}  // namespace lockstep::analyzer

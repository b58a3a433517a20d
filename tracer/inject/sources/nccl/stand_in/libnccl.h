// libnccl's side of the profiler interface, without a GPU: makes the events of its calls, in its order, in
// each version of the table, and keeps a record of what was called.
//
// A call (ncclAllReduce, or ncclGroupStart to ncclGroupEnd) becomes one or several kernels; per kernel, from
// v5 on, the launch is told, and then the group of its operations; with host callbacks the group comes later,
// on a thread of the driver, and for a captured graph at each of its launches.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "trace/events/event.h"
#include "tracer/inject/sources/nccl/tables.h"

namespace lockstep::tracer::nccl::stand_in {

struct Call {
  const char* function = "AllReduce";
  std::uint64_t count = 0;  // elements, as the program passes them
  int data_type = 7;        // ncclFloat32
  std::int32_t peer = 0;    // or root
};

inline constexpr std::array kFunctions{"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                       "AllReduce", "SendRecv", "Send",      "Recv"};
inline constexpr std::array kDataTypes{"ncclInt8",    "ncclUint8",   "ncclInt32",   "ncclUint32",
                                       "ncclInt64",   "ncclUint64",  "ncclFloat16", "ncclFloat32",
                                       "ncclFloat64", "ncclBfloat16"};
inline constexpr std::array<std::uint64_t, 10> kSizes{1, 1, 4, 4, 8, 8, 2, 4, 8, 2};

inline bool is_point_to_point(const Call& call) {
  return std::string(call.function) == "Send" || std::string(call.function) == "Recv";
}

// What libnccl's task holds: all-gathers and broadcasts are of bytes.
struct Task {
  Call call;
  std::uint64_t count = 0;
  int data_type = 0;
  void* call_handle = nullptr;
  void* handle = nullptr;
};

template <class Table>
class Communicator {
 public:
  using Event = typename Table::EventDescriptor;
  static constexpr bool kKnowsCalls = requires(typename Table::EventDescriptor event) {
    event.details.group_call;
  };
  static constexpr bool kToldAtInit = !requires(typename Table::EventDescriptor event) {
    event.details.collective.communicator_hash;
  };

  Communicator(Table& table, std::uint64_t hash, std::int32_t rank, std::int32_t ranks, const char* name)
      : table_(table), hash_(hash), rank_(rank), name_(name) {
    if constexpr (std::is_same_v<decltype(table.init), abi::InitV1>) {
      table.init(&context_, &mask_);
    } else if constexpr (std::is_same_v<decltype(table.init), abi::InitV4>) {
      table.init(&context_, &mask_, name, hash, 1, ranks, rank, nullptr);
    } else {
      table.init(&context_, hash, &mask_, name, 1, ranks, rank, nullptr);
    }
  }

  std::int32_t mask() const { return mask_; }
  void* context() const { return context_; }
  void finalize() { table_.finalize(context_); }

  // One group of calls; each row of `kernels` is carried out by one kernel. Host callbacks are left for
  // later.
  struct Options {
    bool captured = false;
    bool host_callback = false;
    bool stop_in_odd_order = false;
  };
  using Kernel = std::vector<Task>;
  std::vector<Kernel> issue(const std::vector<std::vector<Call>>& kernels, Options options = {}) {
    void* group_call = nullptr;
    if constexpr (kKnowsCalls) {
      Event event{};
      event.type = abi::kGroupCall;
      event.details.group_call = {options.captured, 1};
      table_.start_event(context_, &group_call, &event);
      table_.record_event_state(group_call, 23, nullptr);
    }
    std::vector<Kernel> plans;
    for (const std::vector<Call>& calls : kernels) {
      Kernel& plan = plans.emplace_back();
      for (const Call& call : calls) plan.push_back(append(call, group_call, options));
    }
    if constexpr (kKnowsCalls) table_.record_event_state(group_call, 24, nullptr);
    for (Kernel& plan : plans) {
      launch(group_call);
      if (!options.host_callback) run_host_task(plan, options);
    }
    if constexpr (kKnowsCalls) table_.stop_event(group_call);
    return plans;
  }

  // The host task of one kernel: on the launching thread, or in a callback of the driver.
  void run_host_task(Kernel& plan, Options options = {}) {
    void* group = nullptr;
    Event event{};
    event.type = abi::kGroup;
    table_.start_event(context_, &group, &event);
    for (Task& task : plan) {
      if (!is_point_to_point(task.call)) start_collective(task, group, options);
    }
    for (Task& task : plan) {
      if (is_point_to_point(task.call)) start_point_to_point(task, group);
    }
    if (options.stop_in_odd_order) {
      table_.stop_event(group);
      for (auto task = plan.rbegin(); task != plan.rend(); ++task) table_.stop_event(task->handle);
    } else {
      for (Task& task : plan) table_.stop_event(task.handle);
      table_.stop_event(group);
    }
  }

  // The launch of a kernel begins and ends; the test may look at the clock in between.
  void launch(void* group_call) {
    if constexpr (kKnowsCalls) {
      Event event{};
      event.type = abi::kKernelLaunch;
      event.parent = group_call;
      void* handle = nullptr;
      table_.start_event(context_, &handle, &event);
      table_.stop_event(handle);
    }
  }

 private:
  Task append(const Call& call, void* group_call, Options options) {
    const std::string function = call.function;
    const bool as_bytes = function == "AllGather" || function == "Broadcast";
    Task task{call, call.count, call.data_type, nullptr, nullptr};
    if (as_bytes) {
      task.count *= kSizes[static_cast<std::size_t>(call.data_type)];
      task.data_type = 0;
    }
    if constexpr (kKnowsCalls) {
      Event event{};
      event.parent = group_call;
      const char* const type = kDataTypes[static_cast<std::size_t>(call.data_type)];
      if (is_point_to_point(call)) {
        event.type = abi::kPointToPointCall;
        event.details.point_to_point_call = {call.function, call.count, type, nullptr, options.captured};
      } else {
        event.type = abi::kCollectiveCall;
        event.details.collective_call = {call.function, call.count, type,
                                         call.peer,     nullptr,    options.captured};
      }
      table_.start_event(context_, &task.call_handle, &event);
      table_.stop_event(task.call_handle);
    }
    return task;
  }

  template <class Value>
  static Value named(int number, const char* text) {
    if constexpr (std::is_pointer_v<Value>) {
      return text;
    } else {
      return static_cast<Value>(number);
    }
  }
  static int function_number(const std::string& function) {
    for (std::size_t i = 0; i < kFunctions.size(); ++i) {
      if (function == kFunctions[i]) return static_cast<int>(i);
    }
    return 99;
  }

  // What collectives and point-to-point operations have in common.
  template <class Details>
  void describe(const Task& task, void* group, Event& event, Details& details) {
    event.parent = group;
    event.rank = rank_;
    using Function = decltype(details.function);
    using Type = decltype(details.data_type);
    details.function = named<Function>(function_number(task.call.function), task.call.function);
    details.data_type = named<Type>(task.data_type, kDataTypes[static_cast<std::size_t>(task.data_type)]);
    details.count = task.count;
    if constexpr (requires { details.communicator_hash; }) {
      details.communicator_hash = hash_;
      details.communicator_name = name_;
    }
    if constexpr (requires { details.group; }) {
      details.group = group;
      event.parent = task.call_handle;
    }
  }

  void start_collective(Task& task, void* group, Options options) {
    Event event{};
    event.type = abi::kCollective;
    auto& details = event.details.collective;
    describe(task, group, event, details);
    details.root = task.call.peer;
    details.sequence = sequences_[task.call.function];
    if (!options.captured) ++sequences_[task.call.function];
    details.channels = 24;
    details.warps = 16;
    details.algorithm = named<decltype(details.algorithm)>(1, "RING");
    details.protocol = named<decltype(details.protocol)>(2, "SIMPLE");
    table_.start_event(context_, &task.handle, &event);
  }

  void start_point_to_point(Task& task, void* group) {
    Event event{};
    event.type = abi::kPointToPoint;
    auto& details = event.details.point_to_point;
    describe(task, group, event, details);
    details.peer = task.call.peer;
    if constexpr (requires { details.channels; }) details.channels = 4;
    table_.start_event(context_, &task.handle, &event);
  }

  Table& table_;
  std::uint64_t hash_;
  std::int32_t rank_;
  const char* name_;
  void* context_ = nullptr;
  std::int32_t mask_ = 0;
  std::map<std::string, std::uint64_t> sequences_;
};

}  // namespace lockstep::tracer::nccl::stand_in

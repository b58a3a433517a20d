// Makes trace events out of CUPTI's records. Runs on the writer thread alone.
//
//   kernels, copies, fills    DeviceActivity on the lane of their device, context and stream
//   waiting for the device    DeviceActivity of class sync, on a lane of its context: it overlaps the
//   streams' runtime and driver calls  ApiCall on the calling thread's lane; correlated with what they
//   launched CUPTI's own overhead      HostRange in the domain "cupti" contexts, CUDA events     remembered:
//   which device is it, which stream was the event recorded on
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "trace/events/event.h"
#include "tracer/inject/core/source.h"
#include "tracer/inject/sources/cupti/api_selection.h"
#include "tracer/inject/sources/cupti/cupti_api.h"
#include "tracer/inject/sources/cupti/kernel_names.h"
#include "tracer/inject/sources/cupti/records.h"

namespace lockstep::tracer::cupti {

class ActivityEvents {
 public:
  // With `all_calls`, calls of the CUDA API are kept whatever they are.
  ActivityEvents(SourceContext& context, const Api& api, const ApiSelection& selection, bool all_calls);

  // The records of a buffer that CUPTI has passed on. `generation` counts CUPTI's sessions: correlation ids
  // are unique within one. Calls of `own_thread` are ours and left out.
  void read(std::uint8_t* buffer, std::size_t bytes, std::uint32_t generation, std::uint32_t own_thread);
  // What had to be left out since the last time goes into the file.
  void end_drain(trace::Nanoseconds now);

  // How many records of the program `bytes` of a buffer hold.
  static std::uint64_t count(const Api& api, std::uint8_t* buffer, std::size_t bytes,
                             std::uint32_t own_thread);

  std::uint64_t records() const { return records_; }  // read so far, of all kinds

 private:
  enum Loss : std::uint8_t { no_times, other_clock, other_kind, rest_of_buffer, kLosses };

  void add(const KernelRecord& record);
  void add(const MemcpyRecord& record);
  void add(const PeerMemcpyRecord& record);
  void add(const MemsetRecord& record);
  void add(const SynchronizationRecord& record);
  void add(const OverheadRecord& record);
  void add_call(const ApiRecord& record);
  void add_device_activity(trace::DeviceActivity& activity, std::uint64_t start, std::uint64_t end,
                           std::uint32_t correlation);

  // Whether the times can be kept; counts those that can't.
  bool sound(std::uint64_t start, std::uint64_t end);
  void lose(Loss loss) { ++lost_[loss]; }
  trace::CorrelationId correlation(std::uint32_t id) const;
  trace::LaneId stream_lane(std::uint32_t device, std::uint32_t context, std::uint32_t stream);
  trace::LaneId synchronization_lane(std::uint32_t context);
  trace::LaneId host_lane(std::uint32_t thread);
  std::string stream_name(std::uint32_t device, std::uint32_t context, std::uint32_t stream) const;
  trace::StringId copy_name(std::uint8_t kind, std::uint8_t from, std::uint8_t to);
  trace::StringId text(const std::string& name);
  trace::StringId synchronization_name(const SynchronizationRecord& record);
  trace::StringId call_name(CUpti_ActivityKind kind, std::uint32_t call);

  SourceContext& context_;
  const Api& api_;
  const ApiSelection& selection_;
  bool all_calls_;
  KernelNames kernels_;
  std::uint32_t generation_ = 0;
  std::uint32_t own_thread_ = 0;
  trace::Nanoseconds earliest_;
  trace::Nanoseconds latest_ = 0;  // of the buffer that is being read
  trace::Nanoseconds last_drain_;
  std::uint64_t records_ = 0;
  std::array<std::uint64_t, kLosses> lost_{};

  using Stream = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // device, context, stream
  static constexpr trace::LaneId kNoLane = 0xFFFFFFFFU;
  std::map<Stream, trace::LaneId> streams_;
  Stream last_stream_{};
  trace::LaneId last_stream_lane_ = kNoLane;
  trace::LaneId overhead_lane_ = kNoLane;                         // of no thread
  std::map<std::uint32_t, trace::LaneId> synchronization_lanes_;  // by context
  std::map<std::uint32_t, std::uint32_t> devices_;                // of contexts
  std::map<std::uint32_t, std::uint32_t> first_contexts_;         // of devices
  std::unordered_map<std::uint32_t, std::uint32_t> event_streams_;
  std::unordered_map<std::uint64_t, trace::StringId> names_;  // of copies, fills, waits and calls
};

}  // namespace lockstep::tracer::cupti

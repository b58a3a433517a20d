#include "tracer/inject/sources/cupti/activity_events.h"

#include <algorithm>
#include <utility>

#include "trace/events/launch_shape.h"
#include "tracer/inject/sources/cupti/activity_names.h"

namespace lockstep::tracer::cupti {

namespace {

// Processes may make streams and events without end; what is remembered of them is a convenience.
constexpr std::size_t kMaxEvents = 65536;
constexpr trace::Nanoseconds kSecond = 1'000'000'000;

constexpr std::array<const char*, 4> kLossReasons{
    "CUPTI knew no times (still running at the end, or its device buffers were full)",
    "times are of another tool's clock",
    "records of kinds that are not recorded",
    "rest of a buffer that could not be read (at least)",
};

template <class Record>
const Record& as(const CUpti_Activity* record) {
  return *reinterpret_cast<const Record*>(record);
}

}  // namespace

ActivityEvents::ActivityEvents(SourceContext& context, const Api& api, const ApiSelection& selection,
                               bool all_calls)
    : context_(context),
      api_(api),
      selection_(selection),
      all_calls_(all_calls),
      kernels_(context.writer),
      earliest_(context.process.first_reading.monotonic - kSecond),
      last_drain_(context.process.first_reading.monotonic) {}

std::uint64_t ActivityEvents::count(const Api& api, std::uint8_t* buffer, std::size_t bytes,
                                    std::uint32_t own_thread) {
  std::uint64_t records = 0;
  CUpti_Activity* record = nullptr;
  while (api.get_next_record(buffer, bytes, &record) == CUPTI_SUCCESS) {
    const bool is_call =
        record->kind == CUPTI_ACTIVITY_KIND_RUNTIME || record->kind == CUPTI_ACTIVITY_KIND_DRIVER;
    if (!is_call || as<ApiRecord>(record).threadId != own_thread) ++records;
  }
  return records;
}

void ActivityEvents::read(std::uint8_t* buffer, std::size_t bytes, std::uint32_t generation,
                          std::uint32_t own_thread) {
  generation_ = generation;
  own_thread_ = own_thread;
  latest_ = static_cast<trace::Nanoseconds>(read_monotonic()) + kSecond;
  CUpti_Activity* record = nullptr;
  CUptiResult result = CUPTI_SUCCESS;
  while ((result = api_.get_next_record(buffer, bytes, &record)) == CUPTI_SUCCESS) {
    ++records_;
    switch (record->kind) {
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      case CUPTI_ACTIVITY_KIND_KERNEL:
        add(as<KernelRecord>(record));
        break;
      case CUPTI_ACTIVITY_KIND_MEMCPY:
        add(as<MemcpyRecord>(record));
        break;
      case CUPTI_ACTIVITY_KIND_MEMCPY2:
        add(as<PeerMemcpyRecord>(record));
        break;
      case CUPTI_ACTIVITY_KIND_MEMSET:
        add(as<MemsetRecord>(record));
        break;
      case CUPTI_ACTIVITY_KIND_RUNTIME:
      case CUPTI_ACTIVITY_KIND_DRIVER:
        add_call(as<ApiRecord>(record));
        break;
      case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        add(as<SynchronizationRecord>(record));
        break;
      case CUPTI_ACTIVITY_KIND_OVERHEAD:
        add(as<OverheadRecord>(record));
        break;
      case CUPTI_ACTIVITY_KIND_CUDA_EVENT: {
        const auto& event = as<EventRecord>(record);
        if (event_streams_.size() >= kMaxEvents) event_streams_.clear();
        event_streams_[event.eventId] = event.streamId;
        break;
      }
      case CUPTI_ACTIVITY_KIND_CONTEXT: {
        const auto& context = as<CUpti_ActivityContext>(record);
        devices_[context.contextId] = context.deviceId;
        first_contexts_.emplace(context.deviceId, context.contextId);
        break;
      }
      default:  // another tool in the process has enabled it
        lose(other_kind);
    }
  }
  // A record that this CUPTI itself does not know ends the reading: nothing says where the next one begins.
  if (result != CUPTI_ERROR_MAX_LIMIT_REACHED) lose(rest_of_buffer);
}

bool ActivityEvents::sound(std::uint64_t start, std::uint64_t end) {
  if (start == 0 || end == 0) {
    lose(no_times);
    return false;
  }
  // A neighbour's timestamp callback (ticks, or time since 1970) may have been in place for a while.
  const auto begin = static_cast<trace::Nanoseconds>(start);
  const auto finish = static_cast<trace::Nanoseconds>(end);
  if (begin >= earliest_ && finish <= latest_ && begin <= finish) return true;
  lose(other_clock);
  return false;
}

trace::CorrelationId ActivityEvents::correlation(std::uint32_t id) const {
  // From 2^32 to 2^40: those above are NVTX's, and other sources count from 1.
  if (id == 0) return trace::kNoCorrelation;
  return (std::uint64_t{1 + generation_ % 255} << 32U) | id;
}

void ActivityEvents::add_device_activity(trace::DeviceActivity& activity, std::uint64_t start,
                                         std::uint64_t end, std::uint32_t id) {
  activity.begin = static_cast<trace::Nanoseconds>(start);
  activity.end = static_cast<trace::Nanoseconds>(end);
  activity.correlation = correlation(id);
  context_.writer.append(activity);
}

void ActivityEvents::add(const KernelRecord& record) {
  if (!sound(record.start, record.end)) return;
  const KernelNames::Known& known = kernels_.find(record.name);
  trace::DeviceActivity activity;
  activity.lane = stream_lane(record.deviceId, record.contextId, record.streamId);
  activity.name = known.name;
  activity.activity_class = known.activity_class;
  const trace::LaunchShape shape = trace::launch_shape(
      {record.gridX, record.gridY, record.gridZ, record.blockX, record.blockY, record.blockZ});
  activity.shape = shape.hash;
  activity.warps = shape.warps;
  add_device_activity(activity, record.start, record.end, record.correlationId);
}

void ActivityEvents::add(const MemcpyRecord& record) {
  if (!sound(record.start, record.end)) return;
  trace::DeviceActivity activity;
  activity.lane = stream_lane(record.deviceId, record.contextId, record.streamId);
  activity.name = copy_name(record.copyKind, record.srcKind, record.dstKind);
  activity.activity_class = trace::ActivityClass::copy;
  activity.bytes = record.bytes;
  add_device_activity(activity, record.start, record.end, record.correlationId);
}

void ActivityEvents::add(const PeerMemcpyRecord& record) {
  if (!sound(record.start, record.end)) return;
  trace::DeviceActivity activity;
  activity.lane = stream_lane(record.deviceId, record.contextId, record.streamId);
  activity.name = text(peer_copy_name(record.srcDeviceId, record.dstDeviceId));
  activity.activity_class = trace::ActivityClass::copy;
  activity.bytes = record.bytes;
  add_device_activity(activity, record.start, record.end, record.correlationId);
}

void ActivityEvents::add(const MemsetRecord& record) {
  if (!sound(record.start, record.end)) return;
  trace::DeviceActivity activity;
  activity.lane = stream_lane(record.deviceId, record.contextId, record.streamId);
  activity.name = text(fill_name(record.memoryKind));
  activity.activity_class = trace::ActivityClass::copy;
  activity.bytes = record.bytes;
  add_device_activity(activity, record.start, record.end, record.correlationId);
}

void ActivityEvents::add(const SynchronizationRecord& record) {
  if (!sound(record.start, record.end)) return;
  trace::DeviceActivity activity;
  activity.lane = synchronization_lane(record.contextId);
  activity.name = synchronization_name(record);
  activity.activity_class = trace::ActivityClass::sync;
  add_device_activity(activity, record.start, record.end, record.correlationId);
}

void ActivityEvents::add(const OverheadRecord& record) {
  if (!sound(record.start, record.end)) return;
  const bool of_thread = record.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD;
  if (of_thread && record.objectId.pt.threadId == own_thread_) return;
  trace::HostRange range;
  range.lane = range.end_lane = host_lane(of_thread ? record.objectId.pt.threadId : 0);
  range.begin = static_cast<trace::Nanoseconds>(record.start);
  range.end = static_cast<trace::Nanoseconds>(record.end);
  range.name = text(overhead_name(record.overheadKind));
  range.domain = text("cupti");
  range.nested = false;
  context_.writer.append(range);
}

void ActivityEvents::add_call(const ApiRecord& record) {
  if (record.threadId == own_thread_) return;
  // Where CUPTI can only record all calls or none, the others are left out here.
  if (!all_calls_ && !selection_.selected(record.kind, record.cbid)) return;
  if (!sound(record.start, record.end)) return;
  trace::ApiCall call;
  call.lane = host_lane(record.threadId);
  call.begin = static_cast<trace::Nanoseconds>(record.start);
  call.end = static_cast<trace::Nanoseconds>(record.end);
  call.name = call_name(record.kind, record.cbid);
  call.correlation = correlation(record.correlationId);
  context_.writer.append(call);
}

trace::LaneId ActivityEvents::host_lane(std::uint32_t thread) {
  if (thread != 0) return context_.host_lanes.lane(thread);
  if (overhead_lane_ == kNoLane) {
    overhead_lane_ = context_.writer.add_lane(
        {trace::LaneKind::host_thread, static_cast<std::uint64_t>(context_.process.process), 0, 0, "CUPTI"});
  }
  return overhead_lane_;
}

std::string ActivityEvents::stream_name(std::uint32_t device, std::uint32_t context,
                                        std::uint32_t stream) const {
  const auto first = first_contexts_.find(device);
  std::string name = "GPU " + std::to_string(device);
  if (first != first_contexts_.end() && first->second != context)
    name += " context " + std::to_string(context);
  return name + " stream " + std::to_string(stream);
}

trace::LaneId ActivityEvents::stream_lane(std::uint32_t device, std::uint32_t context, std::uint32_t stream) {
  const Stream key{device, context, stream};
  if (last_stream_lane_ != kNoLane && key == last_stream_) return last_stream_lane_;
  const auto [where, fresh] = streams_.try_emplace(key, kNoLane);
  if (fresh) {
    devices_[context] = device;
    first_contexts_.emplace(device, context);
    where->second = context_.writer.add_lane({trace::LaneKind::device_stream,
                                              static_cast<std::uint64_t>(context_.process.process), stream,
                                              device, stream_name(device, context, stream)});
  }
  last_stream_ = key;
  last_stream_lane_ = where->second;
  return last_stream_lane_;
}

trace::LaneId ActivityEvents::synchronization_lane(std::uint32_t context) {
  const auto [where, fresh] = synchronization_lanes_.try_emplace(context, kNoLane);
  if (fresh) {
    const auto known = devices_.find(context);
    const std::uint32_t device = known != devices_.end() ? known->second : 0;
    const auto first = first_contexts_.find(device);
    std::string name = "GPU " + std::to_string(device);
    if (first != first_contexts_.end() && first->second != context)
      name += " context " + std::to_string(context);
    where->second = context_.writer.add_lane(
        {trace::LaneKind::device_stream, static_cast<std::uint64_t>(context_.process.process),
         CUPTI_SYNCHRONIZATION_INVALID_VALUE, device, name + " synchronization"});
  }
  return where->second;
}

trace::StringId ActivityEvents::text(const std::string& name) {
  return context_.writer.intern(name);
}

trace::StringId ActivityEvents::copy_name(std::uint8_t kind, std::uint8_t from, std::uint8_t to) {
  const std::uint64_t key =
      (std::uint64_t{1} << 40U) | (std::uint64_t{kind} << 16U) | (std::uint64_t{from} << 8U) | to;
  const auto [where, fresh] = names_.try_emplace(key, 0);
  if (fresh) where->second = text(cupti::copy_name(kind, from, to));
  return where->second;
}

trace::StringId ActivityEvents::synchronization_name(const SynchronizationRecord& record) {
  std::uint32_t source = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  const auto event = event_streams_.find(record.cudaEventId);
  if (event != event_streams_.end()) source = event->second;
  return text(cupti::synchronization_name(record.type, record.streamId, source));
}

trace::StringId ActivityEvents::call_name(CUpti_ActivityKind kind, std::uint32_t call) {
  const std::uint64_t key = (std::uint64_t{2} << 40U) | (std::uint64_t{kind} << 32U) | call;
  const auto [where, fresh] = names_.try_emplace(key, 0);
  if (fresh) {
    const std::string_view known = selection_.name(kind, call);
    const char* const api = kind == CUPTI_ACTIVITY_KIND_RUNTIME ? "CUDA runtime call " : "CUDA driver call ";
    where->second = text(known.empty() ? api + std::to_string(call) : std::string(known));
  }
  return where->second;
}

void ActivityEvents::end_drain(trace::Nanoseconds now) {
  kernels_.new_drain();
  for (std::size_t loss = 0; loss < kLosses; ++loss) {
    note_drops(context_.writer, "cupti", kLossReasons[loss], std::exchange(lost_[loss], 0), last_drain_, now);
  }
  last_drain_ = now;
}

}  // namespace lockstep::tracer::cupti

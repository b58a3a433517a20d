// Tables of what devices did.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzer/import/nsys/tables.h"
#include "trace/events/launch_shape.h"

namespace lockstep::analyzer::nsys {
namespace {

enum Column : std::size_t { kStart, kEnd, kDevice, kContext, kStream, kCorrelation, kProcess, kOfTable };

// CUPTI_SYNCHRONIZATION_INVALID_VALUE: a wait for the device or its context.
constexpr std::int64_t kEveryStream = 0xFFFFFFFF;

std::vector<std::string> columns_with(const std::vector<std::string>& of_table) {
  std::vector<std::string> columns{"start",    "end",           "deviceId", "contextId",
                                   "streamId", "correlationId", "globalPid"};
  columns.insert(columns.end(), of_table.begin(), of_table.end());
  return columns;
}

std::uint32_t lane_of(DeviceOfProcess& device, std::int64_t context, std::int64_t stream) {
  RankTrace& trace = device.import.trace;
  const auto [where, fresh] =
      device.lanes.try_emplace({context, stream}, static_cast<std::uint32_t>(trace.lanes.size()));
  if (fresh)
    trace.lanes.push_back({trace::LaneKind::device_stream, static_cast<std::uint64_t>(stream),
                           stream == kEveryStream ? "whole device" : fmt::format("stream {}", stream)});
  return where->second;
}

DeviceOfProcess& device_of(const Rows& rows, Report& report) {
  return report.devices[{process_of(rows.given_integer(kProcess)), rows.given_integer(kDevice)}];
}

// What all these tables say; nothing where the times make no sense.
std::optional<Activity> read_activity(const Rows& rows, DeviceOfProcess& device, Report& report) {
  Activity activity;
  activity.begin = rows.given_integer(kStart);
  activity.end = rows.integer(kEnd);
  if (rows.is_null(kEnd)) activity.end = activity.begin - 1;  // no interval
  if (!report.take_times(activity.begin, activity.end)) return std::nullopt;
  report.begins_ascend &= activity.begin >= report.last_begin;
  report.last_begin = activity.begin;
  activity.lane = lane_of(device, rows.integer(kContext), rows.integer(kStream));
  // Until the launches are joined, launch_begin holds the correlation id; 0 is none.
  const std::int64_t correlation = rows.integer(kCorrelation);
  if (correlation != 0) activity.launch_begin = correlation;
  return activity;
}

void end_of(const Rows& rows, Report& report) {
  if (!rows.problem().empty()) {
    report.damage.push_back(rows.problem());
    report.lost_from = std::min(report.lost_from, report.begins_ascend ? report.last_begin : -kLatest);
  }
  report.last_begin = -kLatest;
  report.begins_ascend = true;
}

const KnownName& known_name(DeviceOfProcess& device, std::int64_t id, const Report& report) {
  const auto [where, fresh] = device.names.try_emplace(id);
  if (fresh) {
    const std::string_view text = report.string(id);
    if (text.empty()) {
      where->second = {device.import.strings.intern("kernel without a name"), KernelKind::unclassified,
                       Operation::unknown};
      return where->second;
    }
    const KernelName kernel = kernel_name(text);
    where->second = {device.import.strings.intern(text), kernel.kind, kernel.operation};
  }
  return where->second;
}

// The full name's number, where it has a text; else the short name's. 0 is a text's number too.
std::int64_t name_id(const Rows& rows, const Report& report) {
  constexpr std::size_t kFullName = kOfTable, kShortName = kOfTable + 1;
  constexpr std::int64_t kNoName = -1;
  if (!rows.is_null(kFullName) && !report.string(rows.integer(kFullName)).empty())
    return rows.integer(kFullName);
  return rows.is_null(kShortName) ? kNoName : rows.integer(kShortName);
}

void read_kernels(Database& database, Report& report) {
  Rows rows(
      database, "CUPTI_ACTIVITY_KIND_KERNEL",
      columns_with({"demangledName", "shortName", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"}));
  constexpr std::size_t kGrid = kOfTable + 2;
  while (rows.next()) {
    DeviceOfProcess& device = device_of(rows, report);
    std::optional<Activity> activity = read_activity(rows, device, report);
    if (!activity) continue;
    const std::int64_t id = name_id(rows, report);
    const KnownName& name = known_name(device, id, report);
    device.nameless += report.string(id).empty();
    activity->name = name.id;
    std::array<std::int64_t, 6> sizes{};
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (!rows.is_null(kGrid + i)) sizes[i] = rows.integer(kGrid + i);
    const trace::LaunchShape shape = trace::launch_shape(sizes);
    activity->shape = shape.hash;
    activity->warps = shape.warps;
    ++device.kernels;
    ++device.activities;
    RankTrace& trace = device.import.trace;
    if (name.kind == KernelKind::communication) {
      Communication communication;
      communication.operation = name.operation;
      communication.activity = static_cast<std::uint32_t>(trace.activities.size());
      activity->activity_class = Class::collective;  // or p2p, once the operation is known
      activity->communication = static_cast<std::uint32_t>(trace.communications.size());
      trace.communications.push_back(communication);
    } else if (name.kind == KernelKind::unclassified) {
      activity->activity_class = Class::unclassified;
    }
    trace.activities.push_back(*activity);
  }
  end_of(rows, report);
}

// ENUM_CUDA_MEMCPY_OPER, which is CUpti_ActivityMemcpyKind.
const char* copy_name(std::int64_t kind) {
  constexpr std::array<const char*, 11> kNames{"Memcpy",      "Memcpy HtoD", "Memcpy DtoH", "Memcpy HtoA",
                                               "Memcpy AtoH", "Memcpy AtoA", "Memcpy AtoD", "Memcpy DtoA",
                                               "Memcpy DtoD", "Memcpy HtoH", "Memcpy PtoP"};
  return kind >= 0 && kind < static_cast<std::int64_t>(kNames.size()) ? kNames[static_cast<std::size_t>(kind)]
                                                                      : kNames[0];
}

// ENUM_CUDA_MEM_KIND: "Pageable".
const char* memory_name(std::int64_t kind) {
  constexpr std::array<const char*, 7> kNames{"Pageable", "Pinned",        "Device",        "Array",
                                              "Managed",  "Device Static", "Managed Static"};
  return kind >= 0 && kind < static_cast<std::int64_t>(kNames.size()) ? kNames[static_cast<std::size_t>(kind)]
                                                                      : "Unknown";
}

void read_copies(Database& database, Report& report) {
  Rows rows(database, "CUPTI_ACTIVITY_KIND_MEMCPY", columns_with({"copyKind", "srcKind", "dstKind"}));
  std::string name;
  while (rows.next()) {
    DeviceOfProcess& device = device_of(rows, report);
    std::optional<Activity> activity = read_activity(rows, device, report);
    if (!activity) continue;
    name = copy_name(rows.integer(kOfTable));
    if (!rows.is_null(kOfTable + 1) && !rows.is_null(kOfTable + 2))
      name.append(" (")
          .append(memory_name(rows.integer(kOfTable + 1)))
          .append(" -> ")
          .append(memory_name(rows.integer(kOfTable + 2)))
          .append(")");
    activity->name = device.import.strings.intern(name);
    activity->activity_class = Class::copy;
    ++device.activities;
    device.import.trace.activities.push_back(*activity);
  }
  end_of(rows, report);
}

void read_named_alike(Database& database, const char* table, const char* name, Class activity_class,
                      Report& report) {
  Rows rows(database, table, columns_with({}));
  while (rows.next()) {
    DeviceOfProcess& device = device_of(rows, report);
    std::optional<Activity> activity = read_activity(rows, device, report);
    if (!activity) continue;
    activity->name = device.import.strings.intern(name);
    activity->activity_class = activity_class;
    device.kernels += activity_class == Class::unclassified;
    ++device.activities;
    device.import.trace.activities.push_back(*activity);
  }
  end_of(rows, report);
}

// All of them may say device 0, whatever their process uses.
DeviceOfProcess* waiting_device(std::int64_t process, std::int64_t device, Report& report) {
  if (const auto same = report.devices.find({process, device}); same != report.devices.end())
    return &same->second;
  DeviceOfProcess* only = nullptr;
  for (auto at = report.devices.lower_bound({process, INT64_MIN});
       at != report.devices.end() && at->first.first == process; ++at) {
    if (only != nullptr) return nullptr;
    only = &at->second;
  }
  return only;
}

void read_waits(Database& database, Report& report) {
  Rows rows(database, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", columns_with({"syncType"}));
  while (rows.next()) {
    DeviceOfProcess* const device =
        waiting_device(process_of(rows.integer(kProcess)), rows.integer(kDevice), report);
    if (device == nullptr) continue;
    std::optional<Activity> activity = read_activity(rows, *device, report);
    if (!activity) continue;
    constexpr std::array<const char*, 5> kNames{"Synchronization", "Event Sync", "Stream Wait Event",
                                                "Stream Sync", "Context Sync"};
    const std::int64_t type = rows.integer(kOfTable);
    activity->name = device->import.strings.intern(
        kNames[type > 0 && type < static_cast<std::int64_t>(kNames.size()) ? static_cast<std::size_t>(type)
                                                                           : 0]);
    activity->activity_class = Class::sync;
    device->import.trace.activities.push_back(*activity);
  }
  // Waits make nothing busy: without them nothing else is wrong.
  if (!rows.problem().empty()) report.damage.push_back(rows.problem());
}

}  // namespace

void read_device_tables(Database& database, Report& report) {
  read_kernels(database, report);
  read_copies(database, report);
  read_named_alike(database, "CUPTI_ACTIVITY_KIND_MEMSET", "Memset", Class::copy, report);
  // What runs inside of a graph that was traced as a whole nobody knows: busy, and of no class.
  read_named_alike(database, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUDA graph", Class::unclassified, report);
  read_waits(database, report);
}

}  // namespace lockstep::analyzer::nsys

#include "analyzer/import/kineto/rank_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "analyzer/import/kineto/decimal_time.h"
#include "analyzer/import/kineto/json_text.h"
#include "analyzer/import/kineto/module_places.h"
#include "analyzer/import/rank/names.h"
#include "analyzer/import/rank/training_mark.h"
#include "trace/events/communication_names.h"
#include "trace/events/launch_shape.h"

namespace lockstep::analyzer::kineto {
namespace {

std::int32_t as_rank(std::string_view text) {
  const std::optional<std::int64_t> number = whole_number(text);
  return number && *number >= 0 && *number < INT32_MAX ? static_cast<std::int32_t>(*number) : kNoRank;
}

// "[128, 1, 1]": three whole numbers, as they stand in the file. False if it is anything else.
bool read_three(std::string_view list, std::int64_t* sizes) {
  std::size_t at = 0;
  const auto take = [&](char wanted) {
    at = skip_space(list, at);
    return at < list.size() && list[at++] == wanted;
  };
  for (int i = 0; i < 3; ++i) {
    if (!take(i == 0 ? '[' : ',')) return false;
    at = skip_space(list, at);
    const auto [end, problem] = std::from_chars(list.data() + at, list.data() + list.size(), sizes[i]);
    if (problem != std::errc()) return false;
    at = static_cast<std::size_t>(end - list.data());
  }
  return take(']');
}

// Of a kernel's grid and its blocks.
trace::LaunchShape shape_of(const DeviceArguments& arguments) {
  std::array<std::int64_t, 6> sizes{};
  if (!read_three(arguments.grid, sizes.data()) || !read_three(arguments.block, sizes.data() + 3)) return {};
  return trace::launch_shape(sizes);
}

}  // namespace

RankBuilder::RankBuilder(std::string file, const Options& options, bool operators,
                         std::function<double()> fraction_done)
    : kept_(options.keep_host_ranges),
      options_(options),
      wants_operators_(operators),
      fraction_done_(std::move(fraction_done)),
      names_(import_.strings) {
  import_.trace.file = std::move(file);
  import_.source = "kineto";
  import_.may_be_a_cycle = true;
}

// Doubling would copy tables of hundreds of MB and hold both copies; what the rest of the file will need can
// be foreseen.
template <class Table>
void RankBuilder::make_room(Table& table) {
  if (table.size() < table.capacity()) return;
  const auto size = static_cast<double>(table.size());
  const double foreseen = std::min(size / std::max(fraction_done_(), 1e-6) * 1.02, size * 64);
  table.reserve(
      std::max<std::size_t>({1024, table.size() + table.size() / 8, static_cast<std::size_t>(foreseen)}));
}

simdjson::error_code RankBuilder::event(simdjson::ondemand::object& object, bool& whole) {
  EventFields fields;
  if (const simdjson::error_code error = read_fields(object, fields)) return error;
  whole = fields.whole;
  if (!whole) return simdjson::SUCCESS;
  if (fields.phase == "X") {
    Times interval;
    if (!times(fields, interval)) return simdjson::SUCCESS;
    switch (fields.kind) {
      case Category::kernel:
      case Category::copy:
      case Category::sync:
        device_event(fields, interval);
        break;
      case Category::launch:
        launch_event(fields, interval);
        break;
      case Category::operation:
        operator_event(fields, interval);
        break;
      case Category::python:
        cost_.python_call();
        host_event(fields, interval);
        break;
      case Category::host:
        host_event(fields, interval);
        break;
      case Category::overhead:
        cost_.overhead(interval.end - interval.begin);
        break;
      case Category::other:
        break;
    }
  } else if (fields.phase == "M") {
    metadata_event(fields);
  } else if (fields.phase == "B" || fields.phase == "E") {
    ++begin_end_events_;
  }
  return simdjson::SUCCESS;
}

bool RankBuilder::times(const EventFields& fields, Times& out) {
  const std::optional<std::int64_t> begin = microseconds_to_ns(fields.time);
  if (!begin || *begin > kLatest || *begin < -kLatest) return ++without_time_, false;
  const std::optional<std::int64_t> duration = microseconds_to_ns(fields.duration);
  if (!duration) {
    // A number that does not fit overflows; anything else is no duration.
    const bool number = !fields.duration.empty() &&
                        fields.duration.find_first_not_of("0123456789.eE+") == std::string_view::npos;
    return ++(number ? overflowing_duration_ : without_duration_), false;
  }
  if (*duration < 0) return ++negative_duration_, false;
  out.begin = *begin;
  if (__builtin_add_overflow(*begin, *duration, &out.end) || out.end > kLatest)
    return ++overflowing_duration_, false;
  if (!fractions_ && (*begin % 1000 != 0 || *duration % 1000 != 0)) fractions_ = true;
  return true;
}

std::uint32_t RankBuilder::device_lane(const EventFields& fields) {
  const std::string_view device_text =
      fields.arguments.device.empty() ? fields.process : fields.arguments.device;
  const std::string_view stream_text =
      fields.arguments.stream.empty() ? fields.thread : fields.arguments.stream;
  const std::int64_t device = whole_number(device_text).value_or(-1);
  const std::int64_t stream = whole_number(stream_text).value_or(-1);
  if (last_lane_ < lanes_.size() && lanes_[last_lane_].device == device &&
      lanes_[last_lane_].stream == stream)
    return static_cast<std::uint32_t>(last_lane_);
  const auto found = std::find_if(lanes_.begin(), lanes_.end(), [&](const DeviceLane& lane) {
    return lane.device == device && lane.stream == stream;
  });
  last_lane_ = static_cast<std::size_t>(found - lanes_.begin());
  if (found == lanes_.end()) lanes_.push_back({device, stream, 0});
  return static_cast<std::uint32_t>(last_lane_);
}

void RankBuilder::device_event(const EventFields& fields, const Times& times) {
  const NameInfo& name = names_.find(fields.name);
  Activity activity;
  activity.begin = times.begin;
  activity.end = times.end;
  activity.name = name.id;
  activity.lane = device_lane(fields);
  const trace::LaunchShape shape = shape_of(fields.arguments);
  activity.shape = shape.hash;
  activity.warps = shape.warps;
  // Until the join, launch_begin holds the correlation id.
  activity.launch_begin = whole_number(fields.arguments.correlation).value_or(kUnknownTime);
  if (fields.kind == Category::sync) {
    activity.activity_class = Class::sync;
  } else {
    ++lanes_[activity.lane].activities;
    if (!fields.arguments.collective_name.empty() ||
        (fields.kind == Category::kernel && name.kind == KernelKind::communication)) {
      add_communication(fields.arguments, name.operation, activity);
    } else if (fields.kind == Category::copy) {
      activity.activity_class = Class::copy;
    } else if (name.kind == KernelKind::unclassified) {
      activity.activity_class = Class::unclassified;
    }
  }
  make_room(import_.trace.activities);
  import_.trace.activities.push_back(activity);
}

void RankBuilder::add_communication(const DeviceArguments& arguments, Operation named, Activity& activity) {
  Communication communication;
  communication.operation = named;
  if (!arguments.collective_name.empty()) {
    communication.has_metadata = true;
    if (const Operation operation = operation_in_name(arguments.collective_name);
        operation != Operation::unknown)
      communication.operation = operation;
    else  // "coalesced": says in which group, and nothing of what ran
      communication.has_metadata = false;
    communication.group = groups_.find(arguments);
  }
  if (communication.has_metadata) {
    communication.data_type = data_type_of(arguments.dtype);
    communication.sequence = whole_number(arguments.sequence).value_or(kNoSequence);
    const std::int64_t elements = std::max(whole_number(arguments.in_elements).value_or(-1),
                                           whole_number(arguments.out_elements).value_or(-1));
    const std::uint32_t size = size_in_bytes(communication.data_type);
    if (elements >= 0 && size > 0 &&
        __builtin_mul_overflow(elements, std::int64_t{size}, &communication.bytes))
      communication.bytes = -1;
    switch (communication.operation) {
      case Operation::send:
        communication.peer = as_rank(arguments.destination_rank);
        break;
      case Operation::recv:
        communication.peer = as_rank(arguments.source_rank);
        break;
      case Operation::broadcast:
      case Operation::reduce:
      case Operation::gather:
      case Operation::scatter:
        communication.peer =
            as_rank(arguments.rank);  // the root's rank in the group, until the groups are known
        break;
      default:
        break;
    }
  }
  activity.activity_class = Class::collective;  // or p2p: resolve_communications()
  activity.communication = static_cast<std::uint32_t>(import_.trace.communications.size());
  make_room(import_.trace.communications);
  import_.trace.communications.push_back(communication);
}

// Where no device computes: what communicates on the CPU.
void RankBuilder::communicate(const EventFields& fields, const Times& times,
                              const std::optional<trace::CommunicationName>& known) {
  using Span = trace::CommunicationName::Span;
  const TimeSpan time{times.begin, times.end};
  if (known && known->span == Span::whole)
    operators_.add_communication(time, names_.find(fields.name).id, known->operation);
  std::optional<Operation> called;
  if (known && known->span == Span::call)
    called = known->operation;
  else if (!known &&
           (fields.kind == Category::host || !computes(fields.name)))  // else settle_communication()
    called = said_by_user(fields.name);
  if (called)
    operators_.add_call(time, threads_.find(fields.process, fields.thread), names_.find(fields.name).id,
                        *called);
}

std::optional<Operation> RankBuilder::said_by_user(std::string_view raw) {
  if (options_.communication == nullptr) return std::nullopt;
  const auto [known, fresh] = said_by_user_.try_emplace(std::string(raw));
  if (fresh) known->second = options_.communication->find(unescape(raw));
  return known->second;
}

// Functions of Python are many, and frameworks name none of them for a step or a phase.
bool RankBuilder::keeps(const EventFields& fields, const Times& times) {
  return fields.kind == Category::python ? kept_.keeps(times.begin, times.end)
                                         : kept_.keeps(times.begin, times.end, fields.name);
}

void RankBuilder::note_process(const EventFields& fields) {
  if (import_.process == 0) import_.process = whole_number(fields.process).value_or(0);
}

void RankBuilder::launch_event(const EventFields& fields, const Times& times) {
  note_process(fields);
  const std::optional<std::int64_t> correlation = whole_number(fields.arguments.correlation);
  const bool keep = kept_.keeps(times.begin, times.end);
  if (!keep && !correlation) return;
  const NameInfo& name = names_.find(fields.name);
  if (!keep && !name.launches) return;
  const std::uint32_t thread = threads_.find(fields.process, fields.thread);
  if (correlation && name.launches) {
    make_room(launches_);
    launches_.add({times.begin, times.end, *correlation, thread});
  }
  if (!keep) return;
  make_room(import_.trace.host_ranges);
  import_.trace.host_ranges.push_back(
      {times.begin, times.end, name.id, thread, 0, name.launches ? HostKind::launch : HostKind::other});
}

void RankBuilder::operator_event(const EventFields& fields, const Times& times) {
  operators_seen_ = true;
  note_process(fields);
  if (wants_operators_ && computes(fields.name))
    operators_.add_computation({times.begin, times.end}, threads_.find(fields.process, fields.thread),
                               names_.find(fields.name).id);
  host_event(fields, times);
}

void RankBuilder::host_event(const EventFields& fields, const Times& times) {
  const std::optional<trace::CommunicationName> communication = trace::communication_range(fields.name);
  if (communication)
    ranges_.add(
        {threads_.find(fields.process, fields.thread), times.begin, times.end, communication->operation});
  if (wants_operators_ && fields.kind != Category::python) communicate(fields, times, communication);
  if (const std::optional<NamedPass> pass = microbatch_pass(fields.name))
    passes_.push_back({times.begin, times.end, *pass});
  const std::optional<std::int64_t> step = profiler_step(fields.name);
  HostKind kind = HostKind::other;
  if (step) {
    kind = HostKind::step;
    import_.trace.steps.push_back({*step, times.begin, times.end});
  } else if (names_data_loading(fields.name)) {
    kind = HostKind::data_loading;
  } else if (fields.kind == Category::python && is_module(fields.name)) {
    kind = HostKind::module;
  } else if (is_training_mark(fields.name)) {
    training_ = fields.name;
  }
  if (kind == HostKind::other && !keeps(fields, times)) return;
  make_room(import_.trace.host_ranges);
  import_.trace.host_ranges.push_back({times.begin, times.end, names_.find(fields.name).id,
                                       threads_.find(fields.process, fields.thread), 0, kind});
}

void RankBuilder::metadata_event(const EventFields& fields) {
  if (fields.name == "thread_name" && !fields.argument_name.empty())
    threads_.name(threads_.find(fields.process, fields.thread), unescape(fields.argument_name));
}

}  // namespace lockstep::analyzer::kineto

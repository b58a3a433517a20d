// What the PyTorch source makes of ranges of the host: open ones, closed ones, those told when they are over.
#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>

#include "trace/events/operator_ranges.h"
#include "tracer/inject/core/training_threads.h"
#include "tracer/inject/sources/pytorch/pytorch_source.h"

namespace lockstep::tracer::pytorch {

namespace {

// The phase that a range is, if it is one.
std::optional<Phase> phase_of(const RangeMeaning& meaning) {
  using Kind = RangeMeaning::Kind;
  if (meaning.kind == Kind::data) return Phase::data;
  if (meaning.kind == Kind::forward) return Phase::forward;
  return std::nullopt;
}

}  // namespace

// FSDP names the passes of the parts within a model's as well.
bool PytorchSource::is_whole_forward(const Thread& thread, const RangeMeaning& meaning,
                                     std::string_view name) {
  using Kind = RangeMeaning::Kind;
  if (meaning.kind == Kind::forward_part) return name.starts_with("FSDP::root_pre_forward");
  return meaning.kind == Kind::forward &&
         std::none_of(thread.open.begin(), thread.open.end(),
                      [](const OpenRange& range) { return range.meaning.kind == Kind::forward; });
}

void PytorchSource::open_range(Thread& thread, const Event& event, const std::byte* body) {
  if (event.bytes < sizeof(RangeRecord)) return;
  const auto record = read_record<RangeRecord>(body, event.bytes);
  const std::string_view name(reinterpret_cast<const char*>(body + sizeof record),
                              event.bytes - sizeof record);
  const RangeMeaning meaning = meaning_of_range(name, record.range == kOwnRange);
  using Kind = RangeMeaning::Kind;
  if (const auto phase = phase_of(meaning)) thread.loop.begin(*phase, 0, -1, event.time);
  if (meaning.kind == Kind::forward_part) thread.loop.forward_part(event.time);
  if (is_whole_forward(thread, meaning, name))
    thread.evaluation.forward(record.without_gradients == 0, event.time);
  if (meaning.kind == Kind::loop) thread.loop.touch(event.time);
  if (meaning.kind == Kind::forward_alone) {
    note_training_thread(event.thread);
    thread.loop.begin_alone(event.time);
  }
  open(thread, event.time, name, RecordType::range_end, record.range);
  thread.open.back().meaning = meaning;
  thread.open.back().without_gradients = record.without_gradients != 0;
}

PytorchSource::OpenRange& PytorchSource::open(Thread& thread, trace::Nanoseconds time, std::string_view name,
                                              RecordType closed_by, std::uint64_t key, bool shown) {
  OpenRange range;
  range.begin = time;
  range.name = shown ? context_->writer.intern(name) : 0;
  range.shown = shown;
  range.closed_by = closed_by;
  range.key = key;
  thread.open.push_back(range);
  if (shown) lane_of_ranges(thread);
  return thread.open.back();
}

// A lane of its own: other sources' ranges of the thread need not nest with these.
trace::LaneId PytorchSource::lane_of_ranges(Thread& thread) {
  if (thread.ranges == kNoLane) {
    thread.ranges = context_->writer.add_lane(
        trace::Lane{trace::LaneKind::host_thread, static_cast<std::uint64_t>(context_->process.process),
                    thread.id, 0, thread.name + " (PyTorch)"});
  }
  return thread.ranges;
}

trace::LaneId PytorchSource::lane_of_stacks(Thread& thread) {
  if (thread.stacks == kNoLane) {
    thread.stacks = context_->writer.add_lane(
        trace::Lane{trace::LaneKind::host_thread, static_cast<std::uint64_t>(context_->process.process),
                    thread.id, 0, "Python (main thread)"});
  }
  return thread.stacks;
}

void PytorchSource::close(Thread& thread, RecordType by, std::uint64_t key, trace::Nanoseconds time) {
  const auto found = std::find_if(thread.open.rbegin(), thread.open.rend(), [&](const OpenRange& range) {
    return range.closed_by == by && range.key == key;
  });
  if (found == thread.open.rend()) return;  // it began before recording did
  const OpenRange range = *found;
  // Ranges nearly always nest; one that a program ends out of turn claims nothing about the others.
  const auto is_shown = [](const OpenRange& open) { return open.shown && open.nested; };
  const bool nested = range.nested && std::none_of(thread.open.rbegin(), found, is_shown);
  const auto depth = std::count_if(std::next(found), thread.open.rend(), is_shown);
  thread.open.erase(std::next(found).base());
  if (const auto phase = phase_of(range.meaning)) thread.loop.end(*phase, time);
  if (range.meaning.kind == RangeMeaning::Kind::forward_alone) thread.loop.end_alone(time);
  if (range.without_gradients) thread.evaluation.part_is_over(time);
  if (!range.shown) return;
  trace::HostRange event;
  event.lane = event.end_lane = thread.ranges;
  event.begin = range.begin;
  event.end = std::max(range.begin, time);
  event.name = range.name;
  event.domain = context_->writer.intern(kRangeDomain);
  event.category = range.category;
  event.nested = nested;
  event.depth = nested ? static_cast<std::uint16_t>(
                             std::min<std::ptrdiff_t>(depth, std::numeric_limits<std::uint16_t>::max()))
                       : 0;
  context_->writer.append(event);
}

void PytorchSource::write_evaluation(Thread& thread) {
  const auto evaluation = thread.evaluation.take();
  if (!evaluation) return;
  trace::HostRange range;
  range.lane = range.end_lane = lane_of_ranges(thread);
  range.begin = evaluation->begin;
  range.end = evaluation->end;
  range.name = context_->writer.intern("evaluation");  // as the hook calls it
  range.domain = context_->writer.intern(kRangeDomain);
  range.nested = false;  // its passes are ranges of the thread already
  context_->writer.append(range);
}

void PytorchSource::past_range(Thread& thread, const Event& event, const std::byte* body) {
  if (event.bytes < sizeof(PastRangeRecord)) return;
  const auto record = read_record<PastRangeRecord>(body, event.bytes);
  if (record.begin < 0 || record.end < record.begin) return;
  const bool is_place = event.type == RecordType::python_place;
  trace::HostRange range;
  range.lane = range.end_lane = is_place ? lane_of_stacks(thread) : lane_of_ranges(thread);
  range.begin = record.begin;
  range.end = record.end;
  range.name = context_->writer.intern(
      std::string_view(reinterpret_cast<const char*>(body + sizeof record), event.bytes - sizeof record));
  range.domain = context_->writer.intern(kRangeDomain);
  if (is_place) range.category = context_->writer.intern(trace::kPythonPlaceCategory);
  range.nested = false;  // it may overlap what was open meanwhile
  context_->writer.append(range);
}

void PytorchSource::long_range(Thread& thread, const Event& event, const std::byte* body) {
  if (event.bytes < sizeof(PastRangeRecord)) return;
  const auto record = read_record<PastRangeRecord>(body, event.bytes);
  if (record.begin < 0) return;
  const auto key = static_cast<std::uint64_t>(record.begin);
  if (event.type == RecordType::long_begin) {
    const std::string_view name(reinterpret_cast<const char*>(body + sizeof record),
                                event.bytes - sizeof record);
    open(thread, record.begin, name, RecordType::long_end, key).nested = false;
    return;
  }
  const auto is_meant = [key](const OpenRange& range) {
    return range.closed_by == RecordType::long_end && range.key == key;
  };
  // The compiler may be left by another thread than the one that came to it.
  for (auto& [id, other] : threads_) {
    const auto found = std::find_if(other.open.begin(), other.open.end(), is_meant);
    if (found == other.open.end()) continue;
    const bool is_kept = record.end > record.begin || found->noted;  // what was noted as open has to end
    found->shown = is_kept;
    return close(other, RecordType::long_end, key, record.end);
  }
}

void PytorchSource::note_open_before(trace::Nanoseconds horizon) {
  for (auto& [id, thread] : threads_) {
    std::uint16_t depth = 0;
    for (OpenRange& range : thread.open) {
      if (!range.shown) continue;
      if (!range.noted && range.begin < horizon) {
        range.noted = true;
        trace::OpenRange event;
        event.lane = thread.ranges;
        event.begin = range.begin;
        event.name = range.name;
        event.domain = context_->writer.intern(kRangeDomain);
        event.category = range.category;
        event.depth = range.nested ? depth : std::uint16_t{0};
        event.nested = range.nested;
        context_->writer.append(event);
      }
      if (range.nested) ++depth;
    }
  }
}

}  // namespace lockstep::tracer::pytorch

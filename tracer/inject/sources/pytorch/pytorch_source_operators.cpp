// What the PyTorch source makes of modules and operators (`record --operators`).
#include <algorithm>
#include <string_view>

#include "trace/events/operator_ranges.h"
#include "tracer/inject/sources/pytorch/pytorch_source.h"

namespace lockstep::tracer::pytorch {

namespace {

std::string_view text_behind(const std::byte* body, std::size_t head, std::uint32_t bytes) {
  return bytes <= head ? std::string_view()
                       : std::string_view(reinterpret_cast<const char*>(body + head), bytes - head);
}

}  // namespace

void PytorchSource::module_begin(Thread& thread, const Event& event, const std::byte* body) {
  end_backward_of_module(thread);
  OpenRange& range = open(thread, event.time, text_behind(body, sizeof(ModuleRecord), event.bytes),
                          RecordType::module_end, 0);
  range.category = context_->writer.intern(trace::kModuleCategory);
  thread.has_modules = true;
  thread.modules.begin(range.name, read_record<ModuleRecord>(body, event.bytes).node);
}

void PytorchSource::operator_begin(Thread& thread, const Event& event, const std::byte* body) {
  const auto record = read_record<OperatorRecord>(body, event.bytes);
  const std::optional<trace::StringId> module =
      record.is_node != 0 && record.node != kNoNode ? module_of(record.node) : std::nullopt;
  if (!thread.backward || thread.backward->module != module) end_backward_of_module(thread);
  OpenRange& range = open(thread, event.time, text_behind(body, sizeof(OperatorRecord), event.bytes),
                          RecordType::operator_end, 0);
  range.category = context_->writer.intern(trace::kOperatorCategory);
  if (module && !thread.backward) thread.backward = Thread::BackwardOfModule{*module, event.time, event.time};
}

void PytorchSource::operator_end(Thread& thread, const Event& event) {
  if (thread.backward) thread.backward->end = event.time;
  close(thread, RecordType::operator_end, 0, event.time);
}

void PytorchSource::end_backward_of_module(Thread& thread) {
  if (!thread.backward) return;
  trace::HostRange range;
  range.lane = range.end_lane = thread.ranges;
  range.begin = thread.backward->begin;
  range.end = std::max(range.begin, thread.backward->end);
  range.name = thread.backward->module;
  range.domain = context_->writer.intern(kRangeDomain);
  range.category = context_->writer.intern(trace::kModuleBackwardCategory);
  range.nested = false;  // ranges within it were written before it
  context_->writer.append(range);
  thread.backward.reset();
}

std::optional<trace::StringId> PytorchSource::module_of(std::uint64_t node) const {
  // Each thread counts its own nodes: with several that run modules nobody knows whose a number is.
  const Thread* forward = nullptr;
  for (const auto& [id, thread] : threads_) {
    if (!thread.has_modules) continue;
    if (forward != nullptr) return std::nullopt;
    forward = &thread;
  }
  return forward != nullptr ? forward->modules.module_of(node) : std::nullopt;
}

}  // namespace lockstep::tracer::pytorch

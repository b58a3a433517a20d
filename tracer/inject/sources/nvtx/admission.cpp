#include "tracer/inject/sources/nvtx/admission.h"

#include <cstring>

#include "tracer/inject/control/steps.h"
#include "tracer/inject/sources/nvtx/registry.h"

namespace lockstep::tracer::nvtx {

namespace {

// The number that a payload of the schema lockstep.step begins with. False if there is none.
bool read_step(const Schema& schema, const nvtxPayloadData_t& data, std::int64_t& step) {
  if (data.payload == nullptr || schema.entries.empty() || !schema.fixed_layout) return false;
  const SchemaEntry& entry = schema.entries.front();
  const std::uint32_t size = layout_of_type(entry.type).size;
  const std::size_t available =
      data.size == static_cast<std::size_t>(-1) ? std::size_t{schema.static_size} : data.size;
  if (entry.offset + size > available) return false;
  const auto* const from = static_cast<const std::byte*>(data.payload) + entry.offset;
  if (size == sizeof(std::int64_t)) {
    std::memcpy(&step, from, sizeof step);
    return true;
  }
  std::int32_t narrow = 0;
  if (size != sizeof narrow) return false;
  std::memcpy(&narrow, from, sizeof narrow);
  step = narrow;
  return true;
}

}  // namespace

bool admit_slowly(const Event& event, bool is_push) noexcept {
  if (event.payload_count != 0 && event.payloads != nullptr) {
    const nvtxPayloadData_t& data = event.payloads[0];
    const Schema* const schema = Registry::instance().schemas().find(event.domain, data.schemaId);
    if (schema != nullptr && schema->role == Schema::Role::group) return true;
    std::int64_t step = 0;
    if (schema != nullptr && schema->role == Schema::Role::step && is_push &&
        read_step(*schema, data, step)) {
      control::step_seen(step);
      control::step_began(step);
    }
  }
  return control::is_recording();
}

}  // namespace lockstep::tracer::nvtx

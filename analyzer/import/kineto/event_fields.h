// The fields of one trace event that the importer looks at, as raw JSON text within the window: strings
// without their quotes, escapes untouched; numbers as they are written. Empty where the event does not have
// the field.
#pragma once

#include <simdjson.h>

#include <string_view>

#include "analyzer/import/kineto/names.h"

namespace lockstep::analyzer::kineto {

// Arguments of kernels, copies and launching calls.
struct DeviceArguments {
  std::string_view device, stream, correlation;
  std::string_view collective_name, dtype, in_elements, out_elements, group_size, group_name,
      group_description;
  std::string_view group_ranks;  // "[0, 1, …]", as text or as an array
  std::string_view rank, source_rank, destination_rank, sequence;
  std::string_view grid, block;  // "[1, 2, 3]"
};

struct EventFields {
  std::string_view phase, category, name, process, thread, time, duration;
  Category kind = Category::other;
  DeviceArguments arguments;       // for complete events of a kind that has them
  std::string_view argument_name;  // args.name of metadata events
  bool arguments_read = false;
  bool whole = false;  // the object was read to its end
};

// Reads the object to its end, or until its phase says that nothing in it is of interest (flow arrows are a
// third of all events). Of a key that stands there twice, the first counts. The views live as long as the
// window.
simdjson::error_code read_fields(simdjson::ondemand::object& object, EventFields& fields);

}  // namespace lockstep::analyzer::kineto

// Reads a flight recorder's dump in JSON (PyTorch's `_dump_nccl_trace_json` and its debug server).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyzer/import/flight_recorder/document.h"

namespace lockstep::analyzer::flight_recorder {

// Where the text is cut or damaged, the document holds what stands before, and the result says where and why;
// nullopt if all is well.
std::optional<std::string> read_json(std::string_view text, Document& document);

}  // namespace lockstep::analyzer::flight_recorder

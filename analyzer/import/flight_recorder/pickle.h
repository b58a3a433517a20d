// Reads Python's pickle format, protocols 2 to 5, as far as it is data: numbers, texts, lists, tuples (as
// lists), dictionaries. A pickle may also hold instructions to import and call functions; such a one is
// refused, and nothing of it is ever run. The opcodes: Python's Lib/pickletools.py.
#pragma once

#include <cstddef>
#include <span>

#include "analyzer/import/flight_recorder/document.h"
#include "base/result.h"

namespace lockstep::analyzer::flight_recorder {

// True for what a pickle of protocol 2 or later begins with.
bool looks_like_pickle(std::span<const std::byte> beginning);

// True for what a dictionary or list that was pickled with protocol 0 or 1 begins with; such files are not
// read.
bool looks_like_old_pickle(std::span<const std::byte> beginning);

struct PickleProblem {
  std::string message;   // "byte 120: …"
  bool refused = false;  // it would run code; what was read is worth nothing
};

// The value of the first pickle in `bytes`. Where the bytes are cut or damaged, the document holds what
// stands before, and the problem says where and why; nullopt if all is well.
std::optional<PickleProblem> read_pickle(std::span<const std::byte> bytes, Document& document);

}  // namespace lockstep::analyzer::flight_recorder

// Streams a Chrome-trace JSON document (an object with a `traceEvents` array, or just the array) through a
// window of a few hundred kB, whatever the file's size: simdjson's index of a whole file would take several
// times its size.
//
// Each window is cut at an element's likely end and handed to simdjson as an array of its own. A wrong guess
// shows as an error at the last element, which then begins the next window; anything else that simdjson
// rejects is read element by element, so that one broken event costs one event.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "analyzer/import/kineto/byte_source.h"
#include "base/result.h"

namespace lockstep::analyzer::kineto {

class EventSink {
 public:
  virtual ~EventSink() = default;
  // One element of traceEvents. `whole` is to say whether the object was read to its end. What is taken from
  // it may only be taken then: an object that was left earlier, or gave an error, may turn out to be cut, and
  // comes again.
  virtual simdjson::error_code event(simdjson::ondemand::object& object, bool& whole) = 0;
  // One member of the document other than traceEvents: its value's JSON text, valid during the call.
  virtual void member(std::string_view key, std::string_view json) = 0;
};

struct StreamSummary {
  bool has_events = false;           // a traceEvents array was found
  std::uint64_t events = 0;          // handed over
  std::uint64_t unreadable = 0;      // elements that are no objects, or no JSON
  std::uint64_t repaired_bytes = 0;  // no UTF-8, or raw control characters in strings: replaced
  std::uint64_t bytes = 0;           // of JSON, uncompressed
  bool empty = false;                // nothing but white space
  std::string problem;               // "" or why reading ended early, e.g. "ends in the middle, at byte 4711"
};

struct StreamOptions {
  std::size_t window = std::size_t{512} << 10;
  std::size_t longest_element = std::size_t{64} << 20;
  std::function<void()> progress;  // after each window
};

StreamSummary stream_events(ByteSource& source, EventSink& sink, const StreamOptions& options = {});

}  // namespace lockstep::analyzer::kineto

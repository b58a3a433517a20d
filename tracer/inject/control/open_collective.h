// How a file tells of a collective that has begun and not ended: an open range with the arguments
// lockstep.group (of the file), lockstep.sequence, lockstep.operation, lockstep.peer, lockstep.bytes and
// lockstep.data_type, by which the analyzer knows a hung job. For every source that knows collectives.
#pragma once

#include <span>

#include "trace/events/event.h"
#include "trace/writer.h"

namespace lockstep::tracer::control {

// Of `collective` group, sequence, operation and peer are used. `arguments` are written too.
void append_open_collective(trace::Writer& writer, const trace::OpenRange& range,
                            std::span<const trace::Argument> arguments, const trace::Collective& collective);

}  // namespace lockstep::tracer::control

#include "tracer/inject/control/open_collective.h"

#include <string_view>
#include <vector>

namespace lockstep::tracer::control {

void append_open_collective(trace::Writer& writer, const trace::OpenRange& range,
                            std::span<const trace::Argument> arguments, const trace::Collective& collective) {
  std::vector<trace::Argument> all(arguments.begin(), arguments.end());
  const auto add = [&](std::string_view key, std::int64_t value) {
    all.push_back(
        trace::Argument{writer.intern(key), trace::ArgumentType::int64, static_cast<std::uint64_t>(value)});
  };
  if (collective.group != trace::kNoGroup) add("lockstep.group", collective.group);
  if (collective.sequence != trace::kNoSequence) add("lockstep.sequence", collective.sequence);
  add("lockstep.operation", static_cast<std::int64_t>(collective.operation));
  if (collective.peer != trace::kNoRank) add("lockstep.peer", collective.peer);
  if (collective.bytes > 0 && collective.bytes != trace::kUnknownBytes)
    add("lockstep.bytes", static_cast<std::int64_t>(collective.bytes));
  if (collective.data_type != trace::DataType::unknown)
    add("lockstep.data_type", static_cast<std::int64_t>(collective.data_type));
  writer.append(range, all);
}

}  // namespace lockstep::tracer::control

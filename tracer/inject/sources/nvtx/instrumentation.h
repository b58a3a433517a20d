// The meaning of payloads in the domain `lockstep` (docs/instrumentation.md): steps, compute, process groups,
// the issue of collectives and the collectives themselves.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/events/event.h"
#include "trace/writer.h"

namespace lockstep::tracer::nvtx {

inline constexpr std::string_view kInstrumentationDomain = "lockstep";

enum class Meaning : std::uint8_t { none, step, compute, group, issue, collective };

// By the schema's name, for instance "lockstep.step"; none for all others.
Meaning meaning_of_schema(std::string_view name) noexcept;

// A payload's fields. Which are set depends on the meaning.
struct InstrumentationFields {
  std::int64_t step = 0;
  std::int32_t layer = -1;       // of compute; -1: none
  std::int32_t microbatch = -1;  // of compute; -1: none
  trace::Pass pass = trace::Pass::other;
  std::uint64_t group = 0;  // the process's own number of the group
  std::uint64_t size = 0;   // of the group
  std::string ranks;        // of the group, "0,1,2,3"
  std::uint64_t sequence = 0;
  std::uint64_t bytes = 0;
  trace::Operation operation = trace::Operation::unknown;
  trace::DataType data_type = trace::DataType::unknown;
  std::int32_t peer = trace::kNoRank;
};

// A decoded value of a payload, in the order of the schema.
struct FieldValue {
  trace::ArgumentType kind = trace::ArgumentType::int64;
  std::uint64_t bits = 0;
  std::string text;
};

// False if there are fewer values than the meaning needs, or one is of the wrong kind (text for a number).
// Values beyond them are ignored. Operations and data types that this version doesn't know become unknown,
// passes other. A compute payload's third value, the pass, may be missing or be something that is no number.
bool read_fields(Meaning meaning, std::span<const FieldValue> values, InstrumentationFields& fields);

// "0,1,2,3"; spaces are allowed. nullopt if it isn't a list of ranks.
std::optional<std::vector<std::int32_t>> parse_ranks(std::string_view text);

// The groups that a process declared, and the ids that join issue and collective.
class Groups {
 public:
  // The first declaration of a number counts; a later one of another name replaces it for what follows.
  void declare(trace::Writer& writer, const InstrumentationFields& fields, std::string_view name);
  std::optional<trace::GroupId> find(std::uint64_t number) const;
  // The same for the same group and sequence, different for all others of this process, never kNoCorrelation.
  // Small numbers that grow with the sequence: they take little room in the file.
  trace::CorrelationId correlation(std::uint64_t number, std::uint64_t sequence);

 private:
  struct Declared {
    trace::GroupId id = trace::kNoGroup;
    std::string name;
  };
  std::map<std::uint64_t, Declared> declared_;
  std::map<std::uint64_t, std::uint64_t> order_;  // number -> order of first use
};

}  // namespace lockstep::tracer::nvtx

// A flight recorder's dump as records. Field names: torch/csrc/distributed/c10d/FlightRecorder.hpp; versions
// 2.0 to 2.10, and what 1.x named otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/import/flight_recorder/document.h"
#include "trace/events/event.h"

namespace lockstep::analyzer::flight_recorder {

enum class State : std::uint8_t { scheduled, started, completed };

// One collective or message, in the order of issue.
struct Entry {
  std::string group;                           // PyTorch's name of the process group, "35"
  std::string group_description;               // "TENSOR_MODEL_PARALLEL_GROUP"
  std::int64_t group_id = -1;                  // counts this process's groups; key of `Dump::status`
  std::string name;                            // "nccl:send 0->3"
  std::int64_t sequence = trace::kNoSequence;  // collectives count per group, messages per rank and group
  bool is_message = false;
  State state = State::scheduled;
  bool retired = false;                 // the watchdog has seen its end
  std::int64_t created = 0;             // ns since 1970: the call
  std::optional<std::int64_t> started;  // when the watchdog saw it: later than it was
  std::optional<std::int64_t> completed;
  trace::DataType data_type = trace::DataType::unknown;
  std::int64_t bytes = -1;  // of the larger side
  std::string place;        // where the program called it: "train.py:57 in step"; empty if not recorded
};

struct Group {
  std::string name;
  std::string description;
  std::string ranks;  // "[0, 1, 2]"
};

// How far this rank is in one of its groups. Messages have numbers of their own and count here too.
struct GroupStatus {
  std::int64_t group_id = -1;
  std::int64_t enqueued = -1;
  std::int64_t completed = -1;
};

struct Dump {
  std::string version;
  std::vector<Group> groups;        // as they were made
  std::vector<GroupStatus> status;  // by group_id
  std::vector<Entry> entries;
  // Elements of "entries" that are no records, name one that stood before, or are more than any recorder
  // keeps (262,144).
  std::size_t unreadable = 0;
};

// nullopt if the document is no flight recorder's dump: no dictionary, or one without "entries" and
// "pg_config". `damaged`: the document holds what stood before a cut; a last entry that lacks fields of the
// others is left out then, as its state may be among them.
std::optional<Dump> read_dump(const Document& document, bool damaged);

}  // namespace lockstep::analyzer::flight_recorder

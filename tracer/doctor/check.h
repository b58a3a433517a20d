// What `lockstep doctor` finds out: one Check a question, and what follows for each source.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::tracer::doctor {

// In order of badness.
enum class State {
  ok,
  note,     // neither good nor bad, but worth knowing
  limited,  // works, with less than it could have
  missing,  // does not work
};
const char* to_string(State state);

struct Check {
  std::string name;                  // "cupti.library": scripts look for it, it stays what it is
  std::vector<std::string> sources;  // what can't be recorded without it; empty: all the same to them
  State state = State::note;
  std::string finding;                             // one line
  std::string remedy = {};                         // what to do about it; empty where there is nothing to do
  std::map<std::string, std::string> values = {};  // the figures and paths behind the finding, for programs
};

// What a source can do here: the worst of its checks.
struct SourceVerdict {
  std::string name;
  State state = State::ok;  // ok, limited or missing
  std::string reason;       // the finding of the worst check; of an ok source, what it records
};

// One of each source (protocol/source_table.h), in the table's order.
std::vector<SourceVerdict> judge(const std::vector<Check>& checks);

}  // namespace lockstep::tracer::doctor

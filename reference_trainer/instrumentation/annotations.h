// What the trainer says about itself, through NVTX alone: the contract of docs/instrumentation.md, in C++.
//
// All calls cost a few nanoseconds and do nothing where no tool is attached. Ranges are push/pop ranges of
// the calling thread: each push_… needs a pop() on the same thread, which Scope gives where a C++ scope is
// the range.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/events/event.h"

namespace lockstep::trainer::annotations {

inline constexpr std::int64_t kNoLayer = -1;

// What a compute range is part of. The values are those of `lockstep.compute`.
enum class Pass : std::uint32_t { other = 0, forward = 1, backward = 2, recompute = 3, optimizer = 4 };
constexpr const char* to_string(Pass pass) {
  constexpr const char* kNames[] = {"other", "forward", "backward", "recompute", "optimizer"};
  return kNames[static_cast<std::size_t>(pass)];
}

// Whether a tool listens. Work whose only purpose is a better annotation is left out where none does.
bool tool_attached();

// Names the calling thread's lane.
void name_this_thread(const char* name);

struct Group {
  std::uint64_t id = 0;  // this process's number for it
  std::string name;      // equal on all ranks
  std::vector<int> ranks;
};
// Before the group's first collective.
void declare_group(const Group& group);

struct Collective {
  std::string name;
  std::uint64_t group = 0;
  std::uint64_t sequence = 0;  // counts the group's operations from 0, in order of issue
  std::uint64_t bytes = 0;     // of the larger side
  trace::Operation operation = trace::Operation::unknown;
  trace::DataType data_type = trace::DataType::unknown;
  std::int64_t peer = -1;  // global rank of the root; −1 where there is none
};

void push_phase(std::string_view name);
void push_step(std::int64_t step);
void push_compute(std::string_view name, std::int64_t layer, std::int64_t microbatch, Pass pass);
void push_issue(const Collective& collective);
void push_collective(const Collective& collective);
void pop();

// How the job trains, for theory beside measurement: "parameters=… samples=…", as docs/instrumentation.md
// lists.
void describe_training(std::string_view description);

// A point of the counter `name`.
void count(std::string_view name, double value);

// Pops at the end of the scope.
class [[nodiscard]] Scope {
 public:
  static Scope phase(std::string_view name) { return push_phase(name), Scope(); }
  static Scope step(std::int64_t step) { return push_step(step), Scope(); }
  static Scope issue(const Collective& collective) { return push_issue(collective), Scope(); }
  static Scope collective(const Collective& collective) { return push_collective(collective), Scope(); }
  ~Scope() { pop(); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Scope() = default;
};

}  // namespace lockstep::trainer::annotations

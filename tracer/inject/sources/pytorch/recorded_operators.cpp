#include "tracer/inject/sources/pytorch/recorded_operators.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "tracer/inject/sources/pytorch/active.h"
#include "tracer/inject/sources/pytorch/loaded_library.h"
#include "tracer/inject/sources/pytorch/node_numbers.h"
#include "tracer/inject/sources/pytorch/record_function.h"

namespace lockstep::tracer::pytorch {

namespace {

constexpr std::size_t kLongestName = 256;

using NextNode = std::uint64_t (*)();
NameOf name_of = nullptr;
NextNode next_node = nullptr;  // of this thread
NodeNumbers node_numbers;

// Operators and nodes of autograd that are under way on this thread, since the innermost module's call began.
// No allocation at first use.
constinit thread_local std::uint32_t depth __attribute__((tls_model("initial-exec"))) = 0;

// What autograd's engine says around each node, which says the same again.
constexpr std::string_view kAroundNodes = "autograd::engine::evaluate_function";

std::string_view name_of_operator(const void* function) {
  const char* const name = name_of(function);
  return name == nullptr ? std::string_view() : std::string_view(name, strnlen(name, kLongestName));
}

void begin(std::string_view name, const OperatorRecord& record) {
  note_begin(RecordType::operator_begin, record, name.data(), static_cast<std::uint32_t>(name.size()));
}

NoContext begin_operator(const void* function) {
  if (next_node != nullptr) node_numbers.learn(function, next_node());
  if (depth == 0) {
    const std::string_view name = name_of_operator(function);
    if (name.starts_with(kAroundNodes)) return {};  // its end finds nothing under way
    begin(name, OperatorRecord{});
  }
  ++depth;
  return {};
}

NoContext begin_node(const void* function) {
  if (depth++ == 0)
    begin(name_of_operator(function), OperatorRecord{node_numbers.of(function).value_or(kNoNode), 1});
  return {};
}

void end_operator(const void*, void*) {
  if (depth > 0 && --depth == 0) note_end(RecordType::operator_end, OperatorRecord{});
}

}  // namespace

bool operators_are_wanted() noexcept {
  const char* const wanted = std::getenv("LOCKSTEP_OPERATORS");
  return wanted != nullptr && std::string_view(wanted) == "1";
}

std::string follow_operators() {
  static bool followed = false;
  if (followed) return {};
  followed = true;
  const std::optional<LoadedLibrary> torch = LoadedLibrary::find("libtorch_cpu.so");
  if (!torch.has_value()) return "libtorch_cpu.so is not loaded";
  const auto add = torch->function<AddGlobalCallback>(kAddGlobalCallback);
  name_of = torch->function<NameOf>(kNameOf);
  if (add == nullptr || name_of == nullptr)
    return "operators (this libtorch has no at::addGlobalCallback that we know)";
  next_node = torch->function<NextNode>("_ZN2at15sequence_number4peekEv");
  Callback operators;
  operators.start = begin_operator;
  operators.end = end_operator;
  operators.scopes[kOperatorScope] = true;
  add(operators);
  Callback nodes;
  nodes.start = begin_node;
  nodes.end = end_operator;
  nodes.scopes[kBackwardScope] = true;
  add(nodes);
  return next_node == nullptr
             ? "which module a backward pass is of (this libtorch has no at::sequence_number)"
             : std::string();
}

std::uint32_t begin_module(const char* name) noexcept {
  const ModuleRecord record{next_node != nullptr ? next_node() : 0};
  note_begin(RecordType::module_begin, record, name, static_cast<std::uint32_t>(strnlen(name, kLongestName)));
  const std::uint32_t before = depth;
  depth = 0;
  return before;
}

void end_module(std::uint32_t before) noexcept {
  depth = before;
  note_end(RecordType::module_end, ModuleRecord{next_node != nullptr ? next_node() : 0});
}

}  // namespace lockstep::tracer::pytorch

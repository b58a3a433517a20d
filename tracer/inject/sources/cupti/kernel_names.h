// Names of kernels as people write them, and what a kernel does by its name.
//
// A record holds a pointer to the mangled name, which belongs to CUPTI: it is the same for all launches of a
// kernel, and is gone when the kernel's module is unloaded or CUPTI is finalized, perhaps before the record
// is read. So it is read with the kernel's help, which answers with an error where there is no memory, and
// once in each drain: a pointer that meanwhile leads to another name is found out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "trace/events/event.h"
#include "trace/writer.h"

namespace lockstep::tracer::cupti {

// Communication libraries are told by their kernels' names (trace/events/communication_names.h). Sends and
// receives are point to point. Everything else computes, also what communicates besides.
trace::ActivityClass class_of_kernel(std::string_view name);

// "at::native::f(float*)" of "_ZN2at6native1fEPf"; what is not mangled stays as it is. At most kLongestName
// bytes.
std::string demangled(const std::string& mangled);

// A zero-terminated text at an address that may be anything, cut to kLongestName. False if it can't be read.
inline constexpr std::size_t kLongestName = 4095;
bool read_text(const char* address, std::string& text);

class KernelNames {
 public:
  struct Known {
    trace::StringId name = 0;
    trace::ActivityClass activity_class = trace::ActivityClass::compute;
  };

  explicit KernelNames(trace::Writer& writer) : writer_(writer) {}
  const Known& find(const char* address);
  // From now on each pointer is read again.
  void new_drain() { ++drain_; }

 private:
  // Programs that compile kernels at run time may go through any number of names.
  static constexpr std::size_t kMaxKept = 65536;
  struct Seen {
    std::uint64_t drain = 0;
    const Known* known = nullptr;
  };

  const Known& by_text(const std::string& mangled);

  trace::Writer& writer_;
  std::unordered_map<const char*, Seen> seen_;
  std::unordered_map<std::string, Known> known_;
  std::uint64_t drain_ = 1;
  std::string text_;
};

}  // namespace lockstep::tracer::cupti

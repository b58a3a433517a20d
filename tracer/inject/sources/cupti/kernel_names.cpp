#include "tracer/inject/sources/cupti/kernel_names.h"

#include <cxxabi.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "trace/events/communication_names.h"

namespace lockstep::tracer::cupti {

namespace {

constexpr std::size_t kPage = 4096;
constexpr const char* kUnreadable = "kernel (name not known)";

}  // namespace

trace::ActivityClass class_of_kernel(std::string_view name) {
  const std::optional<trace::CommunicationName> known = trace::communication_kernel(name);
  if (!known || known->computes) return trace::ActivityClass::compute;
  const bool is_message = known->operation == trace::Operation::send ||
                          known->operation == trace::Operation::recv ||
                          known->operation == trace::Operation::send_recv;
  return is_message ? trace::ActivityClass::p2p : trace::ActivityClass::collective;
}

std::string demangled(const std::string& mangled) {
  if (!mangled.starts_with("_Z")) return mangled;
  int status = 0;
  char* const text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  if (text == nullptr) return mangled;
  std::string name;
  try {
    name.assign(text, std::min(std::strlen(text), kLongestName));
  } catch (...) {
    std::free(text);
    throw;
  }
  std::free(text);
  return name;
}

bool read_text(const char* address, std::string& text) {
  text.clear();
  if (address == nullptr) return false;
  std::array<char, kPage> part{};
  while (text.size() < kLongestName) {
    // Up to the end of the page: the next one may not be there.
    const std::size_t bytes =
        std::min(kPage - reinterpret_cast<std::uintptr_t>(address) % kPage, kLongestName - text.size());
    iovec here{part.data(), bytes};
    iovec there{const_cast<char*>(address), bytes};
    const int saved = errno;
    const ssize_t count = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    const int problem = errno;
    errno = saved;
    if (count <= 0) {
      // A container may forbid the call. Then there is only trust: the pointer came from CUPTI a moment ago.
      if (problem != EPERM && problem != ENOSYS) return false;
      text.append(address, strnlen(address, kLongestName - text.size()));
      return true;
    }
    const std::size_t length = strnlen(part.data(), static_cast<std::size_t>(count));
    text.append(part.data(), length);
    if (length < static_cast<std::size_t>(count)) return true;
    address += count;
  }
  return true;
}

const KernelNames::Known& KernelNames::by_text(const std::string& mangled) {
  const auto found = known_.find(mangled);
  if (found != known_.end()) return found->second;
  if (known_.size() >= kMaxKept) {
    seen_.clear();
    known_.clear();
  }
  const std::string name = demangled(mangled);
  return known_.emplace(mangled, Known{writer_.intern(name), class_of_kernel(name)}).first->second;
}

const KernelNames::Known& KernelNames::find(const char* address) {
  const auto found = seen_.find(address);
  if (found != seen_.end() && found->second.drain == drain_) return *found->second.known;
  if (!read_text(address, text_)) {
    // It could be read once: then what it was is the best guess.
    if (found != seen_.end()) return *found->second.known;
    return by_text(kUnreadable);
  }
  if (seen_.size() >= kMaxKept) seen_.clear();
  const Known& known = by_text(text_);
  seen_[address] = Seen{drain_, &known};
  return known;
}

}  // namespace lockstep::tracer::cupti

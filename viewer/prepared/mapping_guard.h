// A mapped file that another program cuts: reading behind its new end would end the process (SIGBUS).
// Guarded, those bytes read as zeros from then on, and was_cut() says so.
#pragma once

#include <cstddef>
#include <span>

namespace lockstep::viewer {

class MappingGuard {
 public:
  // Of whole pages, as mmap() gives them; to be destroyed before they are unmapped. Installs the handler of
  // SIGBUS once for the process; faults elsewhere go on to the one that was there. More than 64 mappings at a
  // time: the others are not guarded.
  explicit MappingGuard(std::span<const std::byte> mapping);
  ~MappingGuard();
  MappingGuard(const MappingGuard&) = delete;
  MappingGuard& operator=(const MappingGuard&) = delete;

  bool was_cut() const;

 private:
  int slot_ = -1;
};

}  // namespace lockstep::viewer

// A descriptor in a process that is not ours. Programs close descriptors that they did not open, as daemons
// do, and the number is then that of a file of theirs.
#pragma once

#include <cstdint>

namespace lockstep::tracer {

// A descriptor and what it was when we opened it.
class OwnDescriptor {
 public:
  OwnDescriptor() = default;
  explicit OwnDescriptor(int number);
  OwnDescriptor(OwnDescriptor&& other) noexcept;
  OwnDescriptor& operator=(OwnDescriptor&& other) noexcept;
  ~OwnDescriptor() { close(); }
  // -1 if it isn't open, or is somebody else's by now.
  int number() const;
  // Only what is still ours.
  void close();

 private:
  int number_ = -1;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
};

}  // namespace lockstep::tracer

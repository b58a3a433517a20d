// How much RAM this process takes.
#pragma once

#include <cstdint>

namespace lockstep::cli {

class Resident {
 public:
  Resident();
  ~Resident();
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;

  // Bytes now; 0 where the system does not tell (no /proc).
  std::uint64_t now() const noexcept;

 private:
  int file_;
  std::uint64_t page_;
};

// The most since the process began, in bytes.
std::uint64_t most_resident() noexcept;

}  // namespace lockstep::cli

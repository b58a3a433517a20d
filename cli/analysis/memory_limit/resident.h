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

  struct Bytes {
    std::uint64_t all = 0;        // 0 where the system does not tell (no /proc)
    std::uint64_t anonymous = 0;  // of these, what lies in no file: it can't be taken out
  };
  Bytes look() const noexcept;
  std::uint64_t now() const noexcept { return look().all; }

 private:
  int file_;
  std::uint64_t page_;
};

// The most since the process began, in bytes.
std::uint64_t most_resident() noexcept;

}  // namespace lockstep::cli

// Gives texts their ids, each text once, and keeps the new ones until they are written. May throw
// std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "trace/events/event.h"

namespace lockstep::trace::format {

class StringPool {
 public:
  // Beyond `remember` bytes of text the pool forgets what it knew: texts seen again get new ids, and memory
  // stays bounded however many different texts a program makes up.
  explicit StringPool(std::size_t remember = 64U << 20) : remember_(remember) {}

  // The empty text is 0. Precondition: size() < kMaxStrings.
  StringId intern(std::string_view text);
  // Ids given so far, 0 included.
  std::uint32_t size() const { return next_; }

  // Texts without a place in the file yet have the ids first_pending() … size() - 1.
  std::uint32_t first_pending() const { return first_pending_; }
  std::size_t pending_bytes() const { return pending_bytes_; }
  const std::vector<std::string_view>& pending() const { return pending_; }
  void pending_written();

 private:
  struct Slot {
    std::uint64_t hash = 0;
    StringId id = 0;  // 0: free
    std::string_view text;
  };
  std::string_view keep(std::string_view text);
  void grow();

  std::size_t remember_;
  std::vector<Slot> slots_;  // open addressing, a power of two
  std::size_t used_ = 0;
  std::deque<std::vector<char>> blocks_;
  std::size_t kept_bytes_ = 0;
  std::uint32_t next_ = 1;
  std::uint32_t first_pending_ = 1;
  std::vector<std::string_view> pending_;
  std::size_t pending_bytes_ = 0;
};

}  // namespace lockstep::trace::format

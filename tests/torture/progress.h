// What numbered_marks and the test that kills it tell each other, in a file that both have mapped.
#pragma once

#include <atomic>
#include <cstdint>

namespace lockstep::torture {

enum class Ending : std::int32_t { none, leave, exit_at_once, abort, execute };

struct Progress {
  std::atomic<std::int64_t> marks{0};          // calls that have returned
  std::atomic<std::int64_t> last_returned{0};  // CLOCK_MONOTONIC then
  std::atomic<std::int32_t> process{0};
  std::atomic<Ending> ending{Ending::none};   // how to end; the test's word
  std::atomic<std::int32_t> slow_disk{0};     // 1: writing takes its time; the test's word
  std::atomic<std::int32_t> half_written{0};  // writes of which half is done
};

}  // namespace lockstep::torture

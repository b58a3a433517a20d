// What numbered_marks and the test that kills it tell each other, in a file that both have mapped.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace lockstep::torture {

enum class Ending : std::int32_t { none, leave, exit_at_once, abort, crash, execute };

// What a thread beside saw of the one that writes the trace file, a hundred times a second.
struct Beat {
  std::atomic<std::int64_t> time{0};  // CLOCK_MONOTONIC
  // For how long, all in all, the writing thread wanted to go on and the machine did not let it: it was
  // runnable without running, or waited for the disk; or nobody could look, since the one beside stood still
  // as well.
  std::atomic<std::int64_t> held_up{0};
};
inline constexpr std::int64_t kBeatNanoseconds = 10'000'000;
inline constexpr std::size_t kBeats = 2048;  // the last 20 seconds

struct Progress {
  std::atomic<std::int64_t> marks{0};           // calls that have returned
  std::atomic<std::int64_t> first_returned{0};  // CLOCK_MONOTONIC then
  std::atomic<std::int64_t> last_returned{0};
  std::atomic<std::int32_t> process{0};
  std::atomic<Ending> ending{Ending::none};   // how to end; the test's word
  std::atomic<std::int32_t> slow_disk{0};     // 1: writing takes its time; the test's word
  std::atomic<std::int32_t> half_written{0};  // writes of which half is done
  std::atomic<std::int64_t> beats{0};         // so many were seen; number n stands in beat[n % kBeats]
  Beat beat[kBeats];
};

}  // namespace lockstep::torture

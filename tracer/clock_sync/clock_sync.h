// Compares this host's clock with the first host's, while a job runs.
//
// The recorder to which the address belongs answers; all others ask it, at the start, every two seconds and
// at the end, and keep of each round the exchange that was on its way for the shortest time. What they hear
// goes into clock-<host>-<process>.json in the run folder, for the analyzer to relate the hosts' times.
#pragma once

#include <cstdint>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "tracer/clock_sync/packet.h"
#include "tracer/clock_sync/sync_address.h"

namespace lockstep::tracer::clock_sync {

// Four readings in ns of CLOCK_MONOTONIC: ours, theirs, theirs, ours.
struct Exchange {
  std::int64_t asked = 0;
  std::int64_t heard = 0;
  std::int64_t answered = 0;
  std::int64_t received = 0;
};

// What one recorder heard.
struct ClockLog {
  std::string clock;  // clock_identity() of this host
  std::string peer;   // of the host that answered
  std::vector<Exchange> exchanges;
};

// "clock-node7-4711.json".
std::string clock_file_name(std::string_view host, std::int64_t process);
bool is_clock_file_name(std::string_view name);
// format "lockstep.clock/1".
std::string to_json(const ClockLog& log);

enum class Role : std::uint8_t { starting, answers, asks, failed };

class ClockSync {
 public:
  struct Options {
    SyncAddress address;
    Token token{};
    std::filesystem::path run;
    std::int64_t interval_ns = 2'000'000'000;
    // For tests on one host: ask, whoever the address belongs to, and be another clock.
    bool only_ask = false;
    std::string clock;  // empty: clock_identity()
  };

  // Starts a thread and returns at once; names are looked up there.
  explicit ClockSync(Options options);
  ~ClockSync();  // ends it
  ClockSync(const ClockSync&) = delete;
  ClockSync& operator=(const ClockSync&) = delete;

  // One more round, if there is somebody to ask, and the file is complete. Takes a second at most: a name
  // that is still being looked up then is left to itself. The error names the file that could not be written.
  Status end();

  Role role() const;
  std::uint64_t answered() const;   // questions
  std::uint64_t exchanges() const;  // kept

 private:
  class Work;
  std::shared_ptr<Work> work_;
  std::future<void> done_;
  bool ended_ = false;
};

}  // namespace lockstep::tracer::clock_sync

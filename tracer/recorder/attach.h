// Talks to the traced processes of a running job on this host (inject/control/endpoint.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::tracer::record {

struct Answer {
  std::string name;  // of the trace file, without its suffix: "rank-3"
  std::string host;
  std::int64_t process = 0;
  bool elsewhere = false;                     // on another host: not asked
  bool has_closed = false;                    // nobody listens at its socket; its number is in use
  std::string problem;                        // empty, or why there is no answer
  std::map<std::string, std::string> fields;  // as the process sent them

  std::optional<std::int64_t> number(const std::string& key) const;
};

// Asks all processes of the run at once ("status", "start", "stop", "snapshot", "hang") and waits no longer
// than `milliseconds` for all of them. Sorted by rank, then by name. What a dead process left behind is
// removed, and not told of.
std::vector<Answer> ask_all(const std::filesystem::path& run, std::string_view request, int milliseconds);

// `lockstep record --attach RUN REQUEST`: asks, prints a table, returns the exit code: 0 if all answered, 1
// if one did not or there is none.
int attach(const std::filesystem::path& run, std::string_view request);
// The table, a line a process: what it records, or for "snapshot" what it has written.
std::string table_of(const std::vector<Answer>& answers, std::string_view request);

// Removes RUN/control and what a run's processes left in it, once they are gone.
void remove_control_folder(const std::filesystem::path& run);

}  // namespace lockstep::tracer::record

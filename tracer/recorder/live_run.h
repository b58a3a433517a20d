// Whether somebody still writes into a run folder, and whether somebody else has taken it from us.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lockstep::tracer::record {

// Who records into the folder on this host now: "process 4711 (lockstep record)", "rank-0 (process 4712)".
// Asks the processes that have a socket there, and looks at what the manifests say of their recorders.
// Nothing if nobody does, as far as can be seen from this host.
std::optional<std::string> who_records_into(const std::filesystem::path& run);

// The other host whose recorder began the run and has not ended it, as its manifest says: it records, or was
// killed, which can't be seen from here. Nothing if there is none.
std::optional<std::string> other_host_that_records(const std::filesystem::path& run);

// True if none of the manifests in the folder is of a recorder that has ended, as far as can be seen from
// here.
bool is_running(const std::filesystem::path& run);

// True if `process` is a `lockstep record` of this host, and not this process.
bool is_recorder(std::int64_t process);

// What a recorder has seen in its folder while the job ran, to say at the end what is there no more.
class FolderWatch {
 public:
  // `manifest` is the name of our own manifest in `run`.
  FolderWatch(std::filesystem::path run, std::string manifest, std::int64_t start_realtime);

  // Called twice a second; looks now and then.
  void look();
  enum class Owner : std::uint8_t {
    we,
    another,  // another recorder's manifest stands where ours stood: it is not ours to overwrite
    nobody,   // our manifest is not there
    unknown,  // what stands there can't be read
  };
  struct Ownership {
    Owner owner = Owner::unknown;
    std::string why;  // it is not known: "Input/output error"
  };
  // Once the job has ended.
  Ownership ownership() const;
  // Names of trace files that were there and are gone; not those of which nobody can say.
  std::vector<std::string> vanished() const;

 private:
  std::filesystem::path run_;
  std::string manifest_;
  std::int64_t start_realtime_;
  unsigned turns_ = 0;
  std::set<std::string> seen_;
};

}  // namespace lockstep::tracer::record

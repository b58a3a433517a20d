// What a run's trace files hold, as the recorder tells it at the end: read from the files, not from memory,
// so that it is what the analyzer will see.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trace/events/event.h"
#include "tracer/protocol/plan.h"

namespace lockstep::tracer::record {

// The reason in `dropped` of events that came after a file took no more.
inline constexpr const char* kNotWritten = "the disk was full, or could not be written";

// What --ring writes at the end of every process: no news.
inline constexpr const char* kSavedAtEnd = "the process ended";

// What became of a source of events in one process (tracer/inject/core/source.h, describe_source).
struct SourceState {
  std::string state;    // "recording", "absent", …
  std::string problem;  // what it could not record, and why; empty if nothing
};

struct RecordedFile {
  std::string file;  // name in the run folder
  std::int32_t rank = -1;
  std::int32_t inherited_rank = -1;  // a helper of that rank
  std::int32_t restart = 0;          // how often torchrun had started the workers anew
  std::int32_t world_size = -1;
  std::string host;
  std::string process;  // operating-system id
  std::string command;
  std::string clock_source;
  std::uint64_t bytes = 0;
  std::uint64_t chunks = 0;
  std::uint64_t events = 0;                      // clock snapshots and drop notes apart
  std::uint64_t steps_and_collectives = 0;       // of these, what an analysis starts from
  std::uint64_t device_activities = 0;           // and what can be looked at without them
  std::map<std::string, std::uint64_t> dropped;  // events lost, by reason
  std::vector<trace::Group> groups;              // process groups that it spoke of
  std::map<std::string, SourceState> sources;    // by name, those that spoke; NVTX does not
  std::vector<std::string> not_recorded;         // why nothing was recorded for some time, on purpose
  std::vector<std::string> saved;                // with --ring: what made it write, in order
  std::optional<control::StepRange>
      steps_seen;  // of the job, recorded or not; known where a window was asked for
  struct Unwritten {
    std::uint64_t events = 0;
    std::int64_t since = 0;  // ns since 1970
    std::string why;         // "No space left on device: …"
  };
  std::optional<Unwritten> unwritten;   // the file took no more: they are in `dropped`, too
  std::optional<std::uint64_t> cut_to;  // bytes: another program cut it while it was written
  std::string ended;                    // why recording ended before the process; else empty
  bool complete = false;                // closed by its process
  bool after_death = false;             // not closed, and all of it written: by a survivor
  bool no_survivor = false;             // --survive-kill could not be had
  struct SurvivorEnded {
    std::int64_t since = 0;  // ns since 1970
    std::string why;         // "it was killed or asked to end"
  };
  std::optional<SurvivorEnded> survivor_ended;  // while its process lived on
  bool unreadable = false;  // it was not opened: all that is known is its name, which tells the rank
  std::string problem;      // empty, or why the file, or some of it, could not be read

  // Not closed, and nothing else says why: not that it took no more events, nor that it can't be read.
  bool is_incomplete() const { return !complete && !unwritten && !unreadable; }
};

struct Recording {
  std::vector<RecordedFile> ranks;            // by rank
  std::vector<RecordedFile> processes;        // the others
  std::int32_t restarts = 0;                  // how often torchrun started the workers anew
  std::vector<std::string> earlier_attempts;  // names of rank files from before the last time
  std::set<std::int32_t> process_ids;         // of all files that say it, of whatever host
  std::size_t files_without_process = 0;      // and those that don't
  std::int32_t world_size = 0;                // the largest that a rank spoke of; 0: none did
  std::vector<std::int32_t> missing_ranks;
  std::vector<trace::Group> groups;  // of all ranks, each once; larger ones first, then by name and ranks
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  std::map<std::string, std::uint64_t> dropped;

  // What the processes say of each source: its states, joined where they differ, and each problem once, with
  // how many processes have it.
  struct Source {
    std::string state;
    std::map<std::string, std::size_t> problems;
  };
  std::map<std::string, Source> sources() const;

  bool empty() const { return ranks.empty() && processes.empty(); }
  std::uint64_t dropped_events() const;
  // Which ranks ran on which host, by its name; those whose file could not be read are left out.
  std::map<std::string, std::vector<std::int32_t>> hosts() const;
  std::size_t incomplete_files() const;
  std::size_t unreadable_files() const;
};

// Makes the closed files of this host smaller, where many small chunks were written: a job's last second is
// safe only if it is written in small pieces, and once it is over they can be joined. `rank` other than -1:
// only that rank's file. What can't be improved, or not in the time that the user is asked to wait for it, is
// left as it is; nothing is ever lost. Copies of these files that a killed recorder has left half made are
// removed.
void compact_files(const std::filesystem::path& folder, std::string_view host, std::int32_t rank,
                   std::chrono::seconds longest = std::chrono::seconds{10});

// `world_size`: how many ranks there are to be, if that is known from elsewhere. Throws std::system_error
// where nobody can say which files there are; a file that can't be read is one of them.
Recording read_recording(const std::filesystem::path& folder, std::int32_t world_size = 0);

}  // namespace lockstep::tracer::record

// Reads what NCCL logs while it connects (NCCL_DEBUG=INFO): between which ranks, over which connections. A
// job's log is one file a process (NCCL_DEBUG_FILE=nccl.%h.%p.log) or the output of several; all are read
// into one Log, and only together do they say which rank of a communicator is which of the job.
//
// Memory is bounded by the number of distinct connections, not by the files' size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analyzer/import/nccl_log/log_line.h"
#include "analyzer/model/job.h"
#include "base/result.h"

namespace lockstep::analyzer::nccl_log {

// Whether a file that begins like this is such a log; other output may stand before and between.
bool recognises(std::string_view beginning);

// Channels of one direction as one of both ends tells them.
struct ReportedPath {
  std::int32_t from = 0, to = 0;  // of the communicator
  bool received = false;
  std::string connection;
  friend bool operator<(const ReportedPath& a, const ReportedPath& b) {
    return std::tie(a.from, a.to, a.received, a.connection) <
           std::tie(b.from, b.to, b.received, b.connection);
  }
};
struct Channels {
  std::uint64_t numbers = 0;  // a bit each: NCCL has 64 at most
  std::uint32_t file = 0;
};
using ReportedPaths = std::map<ReportedPath, Channels>;

// A process' part in a communicator.
struct Membership {
  std::uint32_t process = 0;
  std::optional<std::uint64_t> communicator;
  std::int32_t rank = 0, size = 0;
  ReportedPaths connections;
  bool holds(const ReportedPath& said) const {
    return (said.received ? said.to : said.from) == rank && (said.received ? said.from : said.to) < size;
  }
};

// One GPU of a process; that is what a rank is.
struct Process {
  std::string host;
  std::vector<std::uint32_t> memberships;  // in the order of their making
  ReportedPaths unplaced;                  // connected after its communicator was made: which one is not said
};

class Log {
 public:
  // Errors: a file that cannot be opened. Of one that is damaged further on, what stands before counts.
  Status add_file(const std::filesystem::path& path);
  // The same of text in memory. A line that is not ended is left out: it may be cut.
  void add_text(std::string_view text, std::string file);

  // Ends reading. Ranks of communicators of `world_size` are the job's; others are known through these, or
  // through a group that is named after the communicator.
  std::vector<ChannelPath> take_paths(std::int32_t world_size, const std::vector<JobGroup>& groups,
                                      std::vector<Warning>& warnings);

 private:
  struct Thread {
    std::string address;  // of the communicator that it makes; empty: none
    std::uint32_t membership = kNone;
    ReportedPaths pending;  // said outside of the making of one
  };

  void begin_file(std::string file);
  void add_bytes(std::string_view bytes);
  void add_line(std::string_view line);
  void add_communicator(const CommunicatorLine& line, std::uint32_t process, Thread& thread);
  void add_channel(const ChannelLine& line, Thread& thread);
  std::uint32_t make_membership(const CommunicatorLine& line, std::uint32_t process);
  void add_connection(const ReportedPath& said, const Channels& channels, ReportedPaths& connections);
  void leave_unplaced(Thread& thread, std::uint32_t process);
  bool has_room();
  std::size_t place_the_rest();
  void warn(std::size_t ambiguous, std::int32_t world_size, std::vector<Warning>& warnings) const;

  std::vector<std::string> files_;
  std::string line_;  // as far as it has been read
  bool line_is_too_long_ = false;
  std::vector<std::string> damaged_;
  std::map<std::tuple<std::string, std::int64_t, std::int32_t>, std::uint32_t> process_of_;  // host, pid, GPU
  std::map<std::pair<std::uint32_t, std::int64_t>, Thread> threads_;  // of a process, by their number
  std::vector<Process> processes_;
  std::vector<Membership> memberships_;
  std::size_t held_ = 0;  // processes, threads, memberships and connections
  bool any_channel_ = false;
  bool full_ = false;
};

}  // namespace lockstep::analyzer::nccl_log

// Programs of the job into which our library can't come, and which therefore can't say so themselves: as the
// recorder sees them from outside, in /proc. Nothing of such a process is stopped, read or asked but which
// file it runs and which network namespace it is in. What lives for less than a look is not seen.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::tracer::record {

// Of one that is in another network namespace: what it says of itself does not reach us.
inline constexpr const char* kOtherNetwork =
    "it ran in another network namespace than the recorder, from where it can't say why";

class JobPrograms {
 public:
  struct Process {
    pid_t process = 0;
    std::uint32_t user = 0;
    std::string program;  // path of its executable; empty where it can't be told
    std::string reason;   // in words: "it is a 32-bit program, and Lockstep's library is not"
  };

  // Of the processes that `root` started, directly or not. `proc`: where /proc is.
  explicit JobPrograms(pid_t root, std::string proc = "/proc");

  // At every process twice: a shell may have become another program by the second time.
  void look();
  // Those so far, each once; the first ten thousand.
  const std::vector<Process>& found() const { return found_; }

 private:
  struct Known {
    pid_t parent = 0;
    std::uint64_t start = 0;  // tells it from a later process with its number
    int looks = 0;
    bool listed = true;  // in this look
    bool told = false;
  };
  using File = std::pair<dev_t, ino_t>;

  bool is_of_job(pid_t process) const;
  void examine(pid_t process, Known& known);
  std::string why_not_entered(const std::string& executable, const File& file);

  pid_t root_;
  std::string proc_;
  File own_network_{};
  std::map<pid_t, Known> known_;
  std::map<File, std::string> reasons_;  // of executables
  std::vector<Process> found_;
};

}  // namespace lockstep::tracer::record

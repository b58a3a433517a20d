// The machine as the checks see it: everything that they ask goes through here, so that a test can give every
// answer without the hardware. local_machine.h is the real one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tracer/doctor/elf.h"

namespace lockstep::tracer::doctor {

// A function of a library that is called to find out about it; its result is an int, 0 for success.
struct Call {
  enum class Kind { fills_int, takes_zero };  // int f(int*), int f(unsigned 0)
  std::string function;
  Kind kind = Kind::fills_int;
};
struct CallResult {
  bool found = false;
  int code = 0;
  int value = 0;
};
// What came of loading a library: in a process of its own, since one that is broken may crash it.
struct LibraryFacts {
  bool loads = false;
  std::string path;                 // the file that the loader took
  std::string problem;              // why it doesn't load, in the loader's words
  std::vector<CallResult> results;  // of the calls, in order
};

struct CommandResult {
  bool started = false;
  bool timed_out = false;
  int exit_code = -1;  // -1: killed by a signal
  std::string output;
  std::string error;
};

struct FileSystemFacts {
  std::uint64_t type = 0;        // as statfs gives it
  std::uint64_t free_bytes = 0;  // to this user
  std::uint64_t total_bytes = 0;
};

struct WriteRate {
  std::uint64_t bytes = 0;
  std::int64_t nanoseconds = 0;
  std::string problem;  // empty, or why nothing could be written
};

class Machine {
 public:
  virtual ~Machine() = default;
  virtual std::optional<std::string> variable(const std::string& name) const = 0;
  virtual std::vector<std::string> variable_names() const = 0;
  // The first 64 KiB of a file.
  virtual std::optional<std::string> read(const std::string& path) const = 0;
  // Names in a folder, sorted; empty where it can't be read.
  virtual std::vector<std::string> list(const std::string& folder) const = 0;
  virtual bool is_executable(const std::string& path) const = 0;
  // Without symbolic links; the path itself where it does not exist.
  virtual std::string real_path(const std::string& path) const = 0;
  virtual std::optional<ElfFacts> inspect(const std::string& path) const = 0;
  // `library` is a path, or a name for the loader to look for.
  virtual LibraryFacts load(const std::string& library, const std::vector<Call>& calls) const = 0;
  virtual CommandResult run(const std::vector<std::string>& argv, std::uint32_t milliseconds) const = 0;
  // Of the nearest folder above `path` that exists.
  virtual std::optional<FileSystemFacts> file_system(const std::string& path) const = 0;
  // Writes up to 64 MiB for at most a second, in a file that is gone afterwards.
  virtual WriteRate measure_writing(const std::string& path) const = 0;
  virtual bool is_root() const = 0;
  virtual std::uint32_t processors() const = 0;  // that this process may run on

  // The value of a variable that is set and not empty.
  std::optional<std::string> set_variable(const std::string& name) const;
  // Where PATH has the command (the path itself if it has a slash); empty if nowhere.
  std::string find_command(const std::string& command) const;
};

}  // namespace lockstep::tracer::doctor

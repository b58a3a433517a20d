// Names of functions in another process, from the symbol tables of the files that it has mapped.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lockstep::tracer::record {

// A symbol as its source has it, demangled; a long one is cut after 160 characters.
std::string readable_name(const std::string& name);

class Symbols {
 public:
  explicit Symbols(pid_t process);

  // Whether the address lies in executable memory.
  bool is_code(std::uint64_t address) const;
  // "wait_for_batch in libloader.so"; "0x7f… in a.out" where there is no symbol; "0x7f…" where there is no
  // file.
  std::string describe(std::uint64_t address);

 private:
  struct Mapping {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t offset = 0;  // in the file
    std::string path;
  };
  struct Function {
    std::uint64_t address = 0;  // as the file counts
    std::uint64_t size = 0;
    std::string name;
  };
  struct Segment {
    std::uint64_t offset = 0;
    std::uint64_t address = 0;
    std::uint64_t size = 0;
  };
  struct File {
    std::vector<Segment> segments;
    std::vector<Function> functions;  // by address
  };
  const Mapping* find(std::uint64_t address) const;
  const File& file(const std::string& path);
  static File read(const std::string& path);

  pid_t process_;
  std::vector<Mapping> mappings_;  // by begin; executable ones only
  std::map<std::string, File> files_;
};

}  // namespace lockstep::tracer::record

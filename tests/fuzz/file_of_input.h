// A fuzzer's input as a file, for importers that read files: in memory where the machine has such a place.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace lockstep::fuzz {

// One file a process, written over by each input and removed at its end.
class FileOfInput {
 public:
  explicit FileOfInput(const char* suffix) {
    const std::filesystem::path memory = "/dev/shm";
    std::error_code error;
    const std::filesystem::path folder =
        std::filesystem::is_directory(memory, error) ? memory : std::filesystem::temp_directory_path();
    path_ = folder / ("lockstep-fuzz-" + std::to_string(getpid()) + suffix);
  }
  FileOfInput(const FileOfInput&) = delete;
  FileOfInput& operator=(const FileOfInput&) = delete;
  ~FileOfInput() { ::unlink(path_.c_str()); }

  // False where it could not be written whole.
  bool write(const std::uint8_t* data, std::size_t size) const {
    const int file = ::open(path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    if (file < 0) return false;
    const bool whole = ::write(file, data, size) == static_cast<ssize_t>(size);
    ::close(file);
    return whole;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace lockstep::fuzz
